package mysql

import (
	"context"
	"crypto/x509"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	driver "github.com/go-sql-driver/mysql"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

// Numbers of the servers' errors that this package acts on.
const (
	errLockWait       = 1205 // rolled back the statement only
	errDeadlock       = 1213 // rolled back the transaction
	errNoSuchTable    = 1146
	errUnknownDB      = 1049
	errNoSuchThread   = 1094
	errAccessDenied   = 1045
	errNoRightHere    = 1044
	errNoRight        = 1142
	errNoColumnRight  = 1143
	errSpecificRight  = 1227
	errLocalForbidden = 4166 // MariaDB
	errLocalDisabled  = 3948 // MySQL
	errNotAllowed     = 1148 // both, of LOAD DATA LOCAL
	errTooManyParts   = 1070 // of a key
	errTooLongKey     = 1071
	errTooLongColumn  = 1074
	errTooManyColumns = 1117
	errRowTooLarge    = 1118
)

// retryables are the errors of a server that may go away by themselves:
// connections lost or ended, locks, restarts, full disks and tables.
const retryables = " 1021 1040 1041 1043 1053 1077 1078 1079 1080 1081 1114 1119 1129 1152 1154 1155 1156 1157 1158 1159 1160 1161 1180 1181 1184 1189 1190 1192 1203 1205 1206 1213 1218 1226 1290 1296 1297 1317 1412 1532 1614 1637 1836 1873 1927 1969 2002 2003 2006 2013 2055 3024 3058 3168 3169 3572 3926 4031 "

// usages are those that the user has to mend: no such database, no access.
const usages = " 1044 1045 1049 1142 1143 1227 1251 1275 1698 1820 1862 3118 3159 3878 4151 "

// wrap says what was being done and gives the error its class.
func wrap(doing string, err error) error { return database.Wrap(doing, err, classify) }

// classify finds the class of an error of the driver or the server.
func classify(err error) connector.Class {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return connector.Retryable
	}
	if refusal, ok := errors.AsType[*driver.MySQLError](err); ok {
		return classifyNumber(refusal.Number)
	}
	for _, lost := range []error{
		driver.ErrInvalidConn, driver.ErrMalformPkt, driver.ErrPktSync, driver.ErrPktSyncMul, sqldriver.ErrBadConn, sql.ErrConnDone,
		io.EOF, io.ErrUnexpectedEOF, net.ErrClosed,
	} {
		if errors.Is(err, lost) {
			return connector.Retryable
		}
	}
	if errors.Is(err, driver.ErrNoTLS) || untrusted(err) {
		return connector.Usage
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return connector.Retryable
	}
	return connector.Permanent
}

// untrusted reports whether the server's certificate was refused.
func untrusted(err error) bool {
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	_, other := errors.AsType[x509.HostnameError](err)
	return unknown || invalid || other
}

// classifyNumber finds the class of a server's error.
func classifyNumber(number uint16) connector.Class {
	text := fmt.Sprintf(" %d ", number)
	switch {
	case strings.Contains(retryables, text):
		return connector.Retryable
	case strings.Contains(usages, text):
		return connector.Usage
	}
	return connector.Permanent
}

// numberOf is the number of a server's error, 0 when it is none.
func numberOf(err error) uint16 {
	if refusal, ok := errors.AsType[*driver.MySQLError](err); ok {
		return refusal.Number
	}
	return 0
}

// recordFaults are the errors by which a server refuses a record for what it
// holds: values, keys, checks, foreign keys, partitions, a trigger's SIGNAL.
const recordFaults = " 1022 1048 1062 1118 1136 1138 1169 1216 1217 1263 1264 1265 1292 1364 1365 1366 1367 1369 1406 1411 1416 1425 1427 1439 1441 1451 1452 1526 1557 1586 1591 1592 1644 1690 1748 1761 1762 1859 1906 1911 3140 3141 3144 3156 3157 3616 3617 3641 3643 3729 3730 3732 3733 3751 3819 4025 4038 4162 "

// serverClasses are the classes of SQLSTATEs that the servers' own errors have.
// 45 is meant for triggers.
const serverClasses = " \x00\x00 00 01 02 07 08 0A 0K 0Z 20 21 22 23 24 25 26 27 28 2D 2F 34 35 37 38 39 3B 3C 3D 40 42 44 46 70 HY IM S1 XA XX "

// recordFault reports whether a server's error is the fault of a record.
func recordFault(err error) bool {
	refusal, ok := errors.AsType[*driver.MySQLError](err)
	if !ok {
		return false
	}
	// What a trigger raises by SIGNAL may have any number, and says so by its state.
	class := string(refusal.SQLState[:2])
	return strings.Contains(recordFaults, fmt.Sprintf(" %d ", refusal.Number)) || !strings.Contains(serverClasses, " "+class+" ")
}

// The errors that tell of which kind a record's fault is: NULL where none may be,
// a key that is there, a value that is none of its column's type.
const (
	nullFaults  = " 1048 1138 1263 "
	keyFaults   = " 1022 1062 1169 1586 1859 "
	valueFaults = " 1264 1265 1292 1366 1367 1406 1411 1425 1427 1441 1690 3140 3141 3156 3157 "
)

// causeOf is of which kind the server's refusal of a record is.
func causeOf(err error) batch.Cause {
	number := fmt.Sprintf(" %d ", numberOf(err))
	switch {
	case strings.Contains(nullFaults, number):
		return batch.CauseNull
	case strings.Contains(keyFaults, number):
		return batch.CauseDuplicate
	case strings.Contains(valueFaults, number):
		return batch.CauseConversion
	}
	return batch.CauseOther
}

// causeHere is of which kind a refusal on our side is.
func causeHere(err error) batch.Cause {
	if errors.Is(err, errNullRequired) {
		return batch.CauseNull
	}
	return batch.CauseConversion
}

// reasonOf is what a dirty record says of the server's refusal.
func reasonOf(err error) string {
	if refusal, ok := errors.AsType[*driver.MySQLError](err); ok {
		return refusal.Message
	}
	return err.Error()
}
