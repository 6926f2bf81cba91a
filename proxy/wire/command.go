package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// CommandName returns a command's name as MySQL's manual writes it, for logs, metrics and errors.
func CommandName(command byte) string {
	if int(command) < len(commandNames) && commandNames[command] != "" {
		return commandNames[command]
	}
	return fmt.Sprintf("COM_0x%02x", command)
}

var commandNames = [...]string{
	mysql.COM_SLEEP:               "COM_SLEEP",
	mysql.COM_QUIT:                "COM_QUIT",
	mysql.COM_INIT_DB:             "COM_INIT_DB",
	mysql.COM_QUERY:               "COM_QUERY",
	mysql.COM_FIELD_LIST:          "COM_FIELD_LIST",
	mysql.COM_CREATE_DB:           "COM_CREATE_DB",
	mysql.COM_DROP_DB:             "COM_DROP_DB",
	mysql.COM_REFRESH:             "COM_REFRESH",
	mysql.COM_SHUTDOWN:            "COM_SHUTDOWN",
	mysql.COM_STATISTICS:          "COM_STATISTICS",
	mysql.COM_PROCESS_INFO:        "COM_PROCESS_INFO",
	mysql.COM_CONNECT:             "COM_CONNECT",
	mysql.COM_PROCESS_KILL:        "COM_PROCESS_KILL",
	mysql.COM_DEBUG:               "COM_DEBUG",
	mysql.COM_PING:                "COM_PING",
	mysql.COM_TIME:                "COM_TIME",
	mysql.COM_DELAYED_INSERT:      "COM_DELAYED_INSERT",
	mysql.COM_CHANGE_USER:         "COM_CHANGE_USER",
	mysql.COM_BINLOG_DUMP:         "COM_BINLOG_DUMP",
	mysql.COM_TABLE_DUMP:          "COM_TABLE_DUMP",
	mysql.COM_CONNECT_OUT:         "COM_CONNECT_OUT",
	mysql.COM_REGISTER_SLAVE:      "COM_REGISTER_SLAVE",
	mysql.COM_STMT_PREPARE:        "COM_STMT_PREPARE",
	mysql.COM_STMT_EXECUTE:        "COM_STMT_EXECUTE",
	mysql.COM_STMT_SEND_LONG_DATA: "COM_STMT_SEND_LONG_DATA",
	mysql.COM_STMT_CLOSE:          "COM_STMT_CLOSE",
	mysql.COM_STMT_RESET:          "COM_STMT_RESET",
	mysql.COM_SET_OPTION:          "COM_SET_OPTION",
	mysql.COM_STMT_FETCH:          "COM_STMT_FETCH",
	mysql.COM_DAEMON:              "COM_DAEMON",
	mysql.COM_BINLOG_DUMP_GTID:    "COM_BINLOG_DUMP_GTID",
	mysql.COM_RESET_CONNECTION:    "COM_RESET_CONNECTION",
	mysql.COM_CLONE:               "COM_CLONE",
}

// AppendCommand appends a command with its argument, such as COM_QUERY with its text. A long command takes several packets. The first
// packet has sequence number 0. AppendCommand returns the sequence number of the answer's first packet.
func AppendCommand(dst []byte, command byte, argument []byte) ([]byte, byte) {
	start := len(dst)
	dst = append(append(Begin(dst), command), argument...)
	return Finish(dst, start, 0)
}

// AppendStatementCommand appends a command whose argument is a statement ID: COM_STMT_CLOSE, COM_STMT_RESET.
func AppendStatementCommand(dst []byte, command byte, statement uint32) []byte {
	dst = append(dst, 5, 0, 0, 0, command)
	return binary.LittleEndian.AppendUint32(dst, statement)
}

// ParseStatement reads the statement ID at the start of every COM_STMT_… command except COM_STMT_PREPARE. payload includes the
// command.
func ParseStatement(payload []byte) (uint32, error) {
	c := cursor{b: payload}
	c.u8()
	id := c.u32()
	return id, c.err("statement ID")
}

// Fetch is COM_STMT_FETCH. It requests the next rows of an open cursor.
type Fetch struct {
	Statement uint32
	Rows      uint32
}

// ParseFetch reads COM_STMT_FETCH. payload includes the command.
func ParseFetch(payload []byte) (Fetch, error) {
	c := cursor{b: payload}
	c.u8()
	fetch := Fetch{Statement: c.u32(), Rows: c.u32()}
	return fetch, c.err("COM_STMT_FETCH")
}

// AppendFetch appends COM_STMT_FETCH.
func AppendFetch(dst []byte, fetch Fetch) []byte {
	dst = append(dst, 9, 0, 0, 0, mysql.COM_STMT_FETCH)
	dst = binary.LittleEndian.AppendUint32(dst, fetch.Statement)
	return binary.LittleEndian.AppendUint32(dst, fetch.Rows)
}

// LongData is COM_STMT_SEND_LONG_DATA: one more piece of a parameter's value. The server doesn't answer it.
type LongData struct {
	Statement uint32
	Param     uint16 // index, from 0
	Piece     []byte
}

// AppendLongData appends COM_STMT_SEND_LONG_DATA.
func AppendLongData(dst []byte, long LongData) []byte {
	start := len(dst)
	dst = append(Begin(dst), mysql.COM_STMT_SEND_LONG_DATA)
	dst = binary.LittleEndian.AppendUint32(dst, long.Statement)
	dst = binary.LittleEndian.AppendUint16(dst, long.Param)
	dst, _ = Finish(append(dst, long.Piece...), start, 0)
	return dst
}

// ParseLongData reads COM_STMT_SEND_LONG_DATA. payload includes the command.
func ParseLongData(payload []byte) (LongData, error) {
	c := cursor{b: payload}
	c.u8()
	long := LongData{Statement: c.u32(), Param: c.u16(), Piece: c.rest()}
	return long, c.err("COM_STMT_SEND_LONG_DATA")
}
