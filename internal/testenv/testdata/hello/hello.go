//go:build !loud

// Command hello is what the tests of builds build.
package main

import "fmt"

func main() { fmt.Println("hello") }
