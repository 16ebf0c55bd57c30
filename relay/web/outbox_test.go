package web

import (
	"bufio"
	"io"
	"strings"
	"sync"
	"testing"
)

func TestOutboxKeepsLinesWhole(t *testing.T) {
	o := newOutbox()
	const writers, each = 8, 200
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				size := []int{1, 100, smallBytes - 1, smallBytes, smallBytes + 1, 200_000}[i%6]
				if i%6 > 1 && i > 30 {
					size = i
				}
				line := strings.Repeat(string(rune('a'+w)), size) + "\n"
				if n, err := o.Write([]byte(line)); n != len(line) || err != nil {
					t.Errorf("wrote %d, %v", n, err)
				}
			}
		})
	}
	go func() {
		all.Wait()
		o.end()
	}()
	lines := 0
	for in := bufio.NewReaderSize(o, 1000); ; lines++ {
		line, err := in.ReadString('\n')
		if err == io.EOF && line == "" {
			break
		}
		if err != nil || strings.Trim(line, line[:1]) != "\n" {
			t.Fatalf("a line is mixed, %v", err)
		}
	}
	if lines != writers*each {
		t.Errorf("%d lines", lines)
	}
	if _, err := o.Write([]byte("x\n")); err == nil {
		t.Error("it still takes lines")
	}
}

func TestOutboxHoldsLittleAndLetsGo(t *testing.T) {
	o := newOutbox()
	blocked := make(chan int)
	go func() { // writes until nobody reads
		n := 0
		for line := []byte(strings.Repeat("x", 1023) + "\n"); ; n++ {
			if n == outboxBytes>>10 {
				blocked <- n
			}
			if _, err := o.Write(line); err != nil {
				blocked <- n
				return
			}
		}
	}()
	<-blocked
	o.close()
	if n := <-blocked; n != outboxBytes>>10 {
		t.Errorf("%d KiB were taken for nobody", n)
	}
	if _, err := o.Write([]byte(strings.Repeat("x", 1<<20))); err == nil {
		t.Error("a large line was taken for nobody")
	}
}
