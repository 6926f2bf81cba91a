package main

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"strconv"
)

// field is one of the integers that an iteration draws and its statements name.
type field int

const (
	noField field = iota
	buyer
	order       // an order that the buyer has
	freshOrder  // the ID of a new order of the buyer's
	freshNumber // and its order number
	low         // the first of a range of readers
	high        // and the last
	width       // how many these are
	fieldCount
)

// draw contains the values of one iteration.
type draw [fieldCount]int64

// A step is one statement of a script, its parameters written as {buyer}, {order} …
type step struct {
	sql  string
	want want
	bare bool // has no parameters and no rows; drivers send it as text even if they prepare other statements
}

var (
	marker = regexp.MustCompile(`\{\w+\}`)
	fields = map[string]field{
		"{buyer}": buyer, "{order}": order, "{freshOrder}": freshOrder, "{freshNumber}": freshNumber,
		"{low}": low, "{high}": high,
	}
)

// prepared returns the text with question marks.
func (s step) prepared() string { return marker.ReplaceAllString(s.sql, "?") }

// request makes packets of a step on one connection.
type request struct {
	parts     []string // the text around the parameters, one more than these
	args      []field
	statement uint32 // the ID of the prepared statement; 0 for text
}

func newRequest(s step) (request, error) {
	var r request
	for _, name := range marker.FindAllString(s.sql, -1) {
		f, known := fields[name]
		if !known {
			return request{}, fmt.Errorf("%q: unknown parameter %s", s.sql, name)
		}
		r.args = append(r.args, f)
	}
	r.parts = marker.Split(s.sql, -1)
	return r, nil
}

const (
	comQuit        = 0x01
	comQuery       = 0x03
	comStmtExecute = 0x17
	typeLongLong   = 0x08
	headerSize     = 4
)

// appendTo appends the whole packet, header included.
func (r *request) appendTo(dst []byte, d *draw) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	if r.statement == 0 {
		dst = r.appendText(dst, d)
	} else {
		dst = r.appendExecute(dst, d)
	}
	n := len(dst) - start - headerSize
	dst[start], dst[start+1], dst[start+2] = byte(n), byte(n>>8), byte(n>>16)
	return dst
}

func (r *request) appendText(dst []byte, d *draw) []byte {
	dst = append(dst, comQuery)
	for i, part := range r.parts {
		dst = append(dst, part...)
		if i < len(r.args) {
			dst = strconv.AppendInt(dst, d[r.args[i]], 10)
		}
	}
	return dst
}

// appendExecute sends the parameter types with each execute, as most drivers do.
func (r *request) appendExecute(dst []byte, d *draw) []byte {
	const noCursor, once = 0, 1
	dst = append(dst, comStmtExecute)
	dst = binary.LittleEndian.AppendUint32(dst, r.statement)
	dst = append(dst, noCursor)
	dst = binary.LittleEndian.AppendUint32(dst, once)
	if len(r.args) == 0 {
		return dst
	}
	for range (len(r.args) + 7) / 8 { // no parameter is NULL
		dst = append(dst, 0)
	}
	dst = append(dst, 1) // types follow
	for range r.args {
		dst = append(dst, typeLongLong, 0)
	}
	for _, f := range r.args {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(d[f]))
	}
	return dst
}
