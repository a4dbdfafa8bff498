// Package pgserver runs a private PostgreSQL to measure against, with the
// settings of [Settings].
package pgserver
