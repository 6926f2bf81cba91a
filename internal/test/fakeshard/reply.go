package fakeshard

import (
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
)

// Reply is the server's reply to the next statement with this prefix.
type Reply struct {
	Prefix  string
	Prepare bool // it is for COM_STMT_PREPARE
	Always  bool // the reply is for every such statement that has no reply of its own

	Code           uint16 // if not 0, the statement fails with this error
	State, Message string // of the error; HY000 and "refused" by default
	Cut            Cut
	Ends           bool // the statement ends the transaction
	Waits          bool // the statement runs until it is killed
	Forgets        bool // the answer is OK, but the statement has no effect

	// Columns and Rows are the result set, and Warnings its warning count. Without columns, the answer is an OK
	// with Info. The result of an execution is in binary form.
	Columns  []wire.Column
	Rows     [][]string // Null stands for NULL
	Warnings uint16
	Info     string
	Affected uint64 // affected rows; 0 means one
	None     bool   // no rows are affected
	InsertID uint64
	File     bool   // it requests a file first, whose content is logged after "FILE "
	Then     *Reply // a further result, as procedures return it
}

// Null is a NULL value in a reply's rows.
const Null = "\x00NULL"

// Cut is the place at which the connection breaks during an answer.
type Cut uint8

const (
	Whole  Cut = iota
	Before     // before the answer
	Within     // within its first packet
	Amid       // after all of its rows
)

// refusal returns the reply's error.
func (r *Reply) refusal() *mysql.MyError {
	e := &mysql.MyError{Code: r.Code, State: "HY000", Message: "refused"}
	if r.State != "" {
		e.State = r.State
	}
	if r.Message != "" {
		e.Message = r.Message
	}
	return e
}

// Number returns a column of integers.
func Number(name string) wire.Column {
	return wire.Column{Name: []byte(name), Charset: 63, Type: mysql.MYSQL_TYPE_LONGLONG, Length: 20}
}

// Text returns a column of texts.
func Text(name string) wire.Column {
	return wire.Column{Name: []byte(name), Charset: 45, Type: mysql.MYSQL_TYPE_VAR_STRING, Length: 400}
}

// placed reports whether the reply is for a statement.
func (r *Reply) placed(text string, prepare bool) bool {
	return r.Prepare == prepare && strings.HasPrefix(text, r.Prefix)
}
