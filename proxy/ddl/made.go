package ddl

import (
	"errors"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/router"
	"locus/router/stmt"
)

// Made is a definition that some shards have made, or all.
type Made struct {
	Subject   string // such as table shop.orders
	Statement string // without its literals
	User      string
	Shards    []router.ShardName // that have made it
	Code      uint16             // error code of another shard; 0: there is none
	Began     time.Time
}

// madeText is the number of bytes of a statement in [Made].
const madeText = 1024

// made records the outcome, unless no shard has changed. So an application that fails repeatedly, or creates existing objects,
// records nothing.
func (d *definition) made(out Outcome) {
	if d.Made == nil || len(out.Done) == 0 {
		return
	}
	m := Made{Subject: d.subject(), Statement: d.Values.Digest(madeText).Text, User: d.User, Shards: out.Done, Began: d.began}
	if out.Err != nil {
		m.Code = mysql.ER_UNKNOWN_ERROR
		if e, is := errors.AsType[*mysql.MyError](out.Err); is {
			m.Code = e.Code
		}
	}
	d.Made(m)
}

// subject returns a description of the object that the statement defines. For several tables it names the first.
func (d *definition) subject() string {
	st := d.Facts.Statement
	switch {
	case st.Kind == stmt.CreateSchema:
		return "database " + st.Schema
	case st.Defined != nil:
		return "routine " + d.FullName(st.Defined.Name).String()
	case len(st.Dropped) > 0:
		return "table " + d.FullName(st.Dropped[0]).String()
	case len(st.Renames) > 0:
		return "table " + d.FullName(st.Renames[0].From).String()
	case len(st.Tables) > 0:
		return "table " + d.FullName(st.Tables[0]).String()
	}
	return st.Verb
}
