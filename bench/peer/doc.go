// Package peer finds the programs that leat is measured against, those that are
// no clients of the servers in pgserver and mariadbserver.
package peer
