// Command hello is the least that a Go process does.
package main

import "os"

func main() { os.Stdout.WriteString("hello\n") }
