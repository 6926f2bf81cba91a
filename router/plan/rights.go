package plan

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"locus/router/catalog"
	"locus/router/stmt"
)

// Rights limit what a user may do. A statement beyond them is refused before any part of it runs. A nil pointer means no limits.
// Rights are immutable.
//
// A statement reads and changes what its text names. Routines may use more than that, so users with rights may not run any. The
// same applies to a view that is run with the rights of its reader. Any other view is checked by its name like a table, as on the
// servers. A text that can't be parsed is refused too.
type Rights struct {
	// ID is unique among all rights that the process has known. It is a part of the plan's key.
	ID uint64
	// User is the user's name for the texts of errors.
	User string
	// Databases and Tables are the databases and tables that may be used. If one of the maps isn't nil, nothing else may be used.
	Databases map[string]bool
	Tables    map[catalog.TableName]bool
	ReadOnly  bool
	NoDDL     bool
}

// AppendRights appends to a key the rights that the plan was checked against.
func AppendRights(key []byte, r *Rights) []byte {
	if r == nil {
		return key
	}
	return binary.BigEndian.AppendUint64(append(key, 0), r.ID)
}

// Denied is the error of a statement that the user may not run. The statement has no effect. Number and Text are MySQL's.
type Denied struct {
	Number  uint16
	Message string
}

func (d *Denied) Error() string { return d.Message }

// These are MySQL's error numbers for a missing privilege.
const (
	erDatabaseDenied = 1044
	erTableDenied    = 1142
	erRoutineDenied  = 1370
)

// Database returns a *Denied if the database may not become the default database.
func (r *Rights) Database(name string) error {
	if r.allowsDatabase(name) {
		return nil
	}
	for t := range r.Tables {
		if t.Schema == name {
			return nil
		}
	}
	return &Denied{erDatabaseDenied, fmt.Sprintf("Access denied for user '%s'@'%%' to database '%s'", r.User, name)}
}

// Table returns a *Denied if the table may not be read.
func (r *Rights) Table(name catalog.TableName) error {
	if r.allowsDatabase(name.Schema) || r.Tables[name] {
		return nil
	}
	return r.deniedTable("SELECT", name.Name)
}

func (r *Rights) allowsDatabase(name string) bool {
	return r == nil || r.Databases == nil && r.Tables == nil || r.Databases[name] ||
		name == "" || strings.EqualFold(name, "information_schema")
}

func (r *Rights) deniedTable(command, table string) error {
	return &Denied{erTableDenied, fmt.Sprintf("%s command denied to user '%s'@'%%' for table '%s'", command, r.User, table)}
}

// denyUnread refuses a text that the parser can't read.
func (r *Rights) denyUnread(reason error) error {
	if r == nil {
		return nil
	}
	return &Denied{erTableDenied, fmt.Sprintf("command denied to user '%s'@'%%': %v, and so it isn't known what it would do", r.User, reason)}
}

// check refuses a statement that the rights don't allow.
func (r *Rights) check(l *stmt.Lexed, f *Facts, ctx Context) error {
	if r == nil {
		return nil
	}
	s, command := f.Statement, firstWord(l)
	if err := r.checkKind(s, f.Writes, command); err != nil {
		return err
	}
	if s.Schema != "" {
		if err := r.Database(s.Schema); err != nil {
			return err
		}
	}
	for _, name := range TablesOf(s) {
		full := catalog.TableName{Schema: ctx.schemaOf(name), Name: name.Name}
		if r.Table(full) != nil || pathTables[strings.ToLower(full.Name)] && systemSchema(full.Schema) {
			return r.deniedTable(command, name.Name)
		}
		if (r.Databases != nil || r.Tables != nil) && !ctx.isTemporary(full) && ctx.Catalog.Invokes(full) {
			return r.denyInvoker(full)
		}
	}
	return nil
}

// denyInvoker returns the refusal of a view that is run with the rights of its reader. On the shard the reader is the proxies'
// account, which has no such limits.
func (r *Rights) denyInvoker(view catalog.TableName) error {
	return &Denied{erTableDenied, fmt.Sprintf("command denied to user '%s'@'%%' for view '%s': it is SQL SECURITY INVOKER, which users with bounds may not use", r.User, view.Name)}
}

// checkKind checks the kind of the statement, whatever its tables are.
func (r *Rights) checkKind(s *stmt.Statement, writes bool, command string) error {
	table := ""
	if tables := TablesOf(s); len(tables) > 0 {
		table = tables[0].Name
	}
	switch {
	case s.Kind == stmt.Call, s.Features&(stmt.UnknownFunction|stmt.Program) != 0:
		return &Denied{erRoutineDenied, fmt.Sprintf("execute command denied to user '%s'@'%%' for a routine: users with bounds run none", r.User)}
	case s.Kind == stmt.DDL && (r.NoDDL || r.ReadOnly):
		return r.deniedTable(command, table)
	case s.Kind == stmt.CreateSchema && (r.NoDDL || r.ReadOnly || !r.allowsDatabase(s.Schema)):
		return &Denied{erDatabaseDenied, fmt.Sprintf("Access denied for user '%s'@'%%' to database '%s'", r.User, s.Schema)}
	case r.ReadOnly && (writes || s.Features&stmt.Locking != 0 || locksToWrite(s)):
		return r.deniedTable(command, table)
	}
	return nil
}

func locksToWrite(s *stmt.Statement) bool {
	return slices.ContainsFunc(s.LockTables, func(t stmt.LockTable) bool { return !reads(t) })
}

// TablesOf returns the tables that a statement names, without those that it defines itself.
func TablesOf(s *stmt.Statement) []stmt.TableName {
	switch s.Kind {
	default:
		return s.Tables
	case stmt.Select, stmt.Insert, stmt.Replace, stmt.Update, stmt.Delete:
	}
	var list []stmt.TableName
	if s.Insert != nil {
		list = append(list, s.Insert.Table)
	}
	for _, b := range s.Blocks {
		for _, t := range b.Tables {
			if !t.Derived {
				list = append(list, t.TableName)
			}
		}
	}
	return list
}

func firstWord(l *stmt.Lexed) string {
	first := ""
	l.Words(func(word []byte) {
		if first == "" {
			first = strings.ToUpper(string(word))
		}
	})
	return first
}
