package fakeshard

import (
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
)

// Reply is what the server does at the next statement that begins so.
type Reply struct {
	Prefix  string
	Prepare bool // at COM_STMT_PREPARE of it
	Always  bool // at each such statement, behind those that are for one

	Code           uint16 // refuse it with this error
	State, Message string // of the error: HY000, "refused"
	Cut            Cut
	Ends           bool // the transaction has ended with it
	Waits          bool // it is under way until it is killed
	Forgets        bool // it says OK, and nothing comes of it

	// Columns and Rows are its answer, and Warnings what it counts of them. Without columns, Info is in the OK. To an execution,
	// values are in binary form.
	Columns  []wire.Column
	Rows     [][]string // Null stands for NULL
	Warnings uint16
	Info     string
	Affected uint64 // rows; 0: one
	None     bool   // no rows were affected
	InsertID uint64
	File     bool   // it asks for a file first, which stands in the log behind "FILE "
	Then     *Reply // a further result, as procedures give
}

// Null is a NULL among a reply's rows.
const Null = "\x00NULL"

// Cut is where an answer ends with its connection.
type Cut uint8

const (
	Whole  Cut = iota
	Before     // there is none
	Within     // after a part of its first packet
	Amid       // after all of its rows
)

// refusal is the error that the reply is.
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

// Number is a column of whole numbers.
func Number(name string) wire.Column {
	return wire.Column{Name: []byte(name), Charset: 63, Type: mysql.MYSQL_TYPE_LONGLONG, Length: 20}
}

// Text is a column of texts.
func Text(name string) wire.Column {
	return wire.Column{Name: []byte(name), Charset: 45, Type: mysql.MYSQL_TYPE_VAR_STRING, Length: 400}
}

// placed tells whether the reply is one to a statement.
func (r *Reply) placed(text string, prepare bool) bool {
	return r.Prepare == prepare && strings.HasPrefix(text, r.Prefix)
}
