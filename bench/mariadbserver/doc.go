// Package mariadbserver runs a private MariaDB to measure against, with the
// settings of [Settings].
package mariadbserver
