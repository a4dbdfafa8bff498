//go:build loud

package main

import "fmt"

func main() { fmt.Println("HELLO") }
