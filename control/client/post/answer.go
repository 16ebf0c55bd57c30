package post

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"strings"
)

const (
	maxHeadBytes = 64 << 10
	maxBodyBytes = 16 << 20
	// unknownLength is a body that ends where the connection does.
	unknownLength = -1
)

// readAnswer reads one whole answer: part of one is an error, since what is cut out
// of JSON may be JSON, too.
func readAnswer(r io.Reader) (Answer, error) {
	in := bufio.NewReader(r)
	left := maxHeadBytes
	for {
		status, length, chunked, err := readHead(in, &left)
		if err != nil {
			return Answer{}, err
		}
		if status/100 == 1 { // an answer before the answer
			continue
		}
		if status == 204 || status == 304 {
			return Answer{Status: status}, nil
		}
		body, err := readBody(in, length, chunked)
		return Answer{Status: status, Body: body}, err
	}
}

// readHead reads a status line and the headers up to the empty line.
func readHead(in *bufio.Reader, left *int) (status, length int, chunked bool, err error) {
	line, err := readLine(in, left)
	if err != nil {
		return 0, 0, false, err
	}
	version, rest, _ := strings.Cut(line, " ")
	code, _, _ := strings.Cut(rest, " ")
	status, err = strconv.Atoi(code)
	if !strings.HasPrefix(version, "HTTP/1.") || err != nil || status < 100 || status > 999 {
		return 0, 0, false, errGarbage
	}
	length = unknownLength
	for {
		line, err := readLine(in, left)
		if err != nil || line == "" {
			return status, length, chunked, err
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch {
		case strings.EqualFold(name, "Content-Length"):
			if length, err = strconv.Atoi(value); err != nil || length < 0 {
				return 0, 0, false, errGarbage
			}
		case strings.EqualFold(name, "Transfer-Encoding"):
			if chunked = strings.EqualFold(value, "chunked"); !chunked {
				return 0, 0, false, errGarbage
			}
		}
	}
}

// readLine reads a line of the head without its end.
func readLine(in *bufio.Reader, left *int) (string, error) {
	line, err := in.ReadSlice('\n')
	if *left -= len(line); err == bufio.ErrBufferFull || *left < 0 {
		return "", errGarbage
	}
	if err != nil {
		return "", short(err)
	}
	return string(bytes.TrimRight(line, "\r\n")), nil
}

func readBody(in *bufio.Reader, length int, chunked bool) ([]byte, error) {
	var body bytes.Buffer
	var err error
	switch {
	case chunked:
		err = readChunks(&body, in)
	case length == unknownLength:
		_, err = io.Copy(&body, io.LimitReader(in, maxBodyBytes+1))
		if err == nil && body.Len() > maxBodyBytes {
			err = ErrTooLarge
		}
	default:
		err = readSome(&body, in, length)
	}
	if err != nil {
		return nil, short(err)
	}
	return body.Bytes(), nil
}

func readChunks(body *bytes.Buffer, in *bufio.Reader) error {
	for {
		left := maxHeadBytes
		line, err := readLine(in, &left)
		if err != nil {
			return err
		}
		digits, _, _ := strings.Cut(line, ";")
		size, err := strconv.ParseUint(strings.TrimSpace(digits), 16, 31)
		switch {
		case err != nil:
			return errGarbage
		case size == 0: // trailers may follow; the connection is not used again
			return nil
		}
		if err := readSome(body, in, int(size)); err != nil {
			return err
		}
		if line, err := readLine(in, &left); err != nil || line != "" {
			return errGarbage
		}
	}
}

// readSome appends exactly length bytes to body. Room is taken as they come, so that
// a length alone costs nothing.
func readSome(body *bytes.Buffer, in io.Reader, length int) error {
	if length > maxBodyBytes-body.Len() {
		return ErrTooLarge
	}
	_, err := io.CopyN(body, in, int64(length))
	return err
}

// short tells an end that came too early from other errors.
func short(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errShort
	}
	return err
}
