package stmt

import (
	"reflect"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// unvisited adds the tables of statements other than queries. The parser's own visitors skip some: OPTIMIZE TABLE, DROP
// PROCEDURE, MERGE's UNION.
func (r *reader) unvisited(node ast.StmtNode) {
	switch r.out.Kind {
	case DDL, Other, LoadData, Call, Lock, Show:
	default:
		return
	}
	if r.out.Features&Program != 0 { // a program's name isn't a table's, and its body isn't read
		return
	}
	seen := map[*ast.TableName]bool{}
	for _, t := range r.tables {
		seen[t] = true
	}
	tablesIn(reflect.ValueOf(node), map[uintptr]bool{}, func(t *ast.TableName) {
		if !seen[t] {
			seen[t] = true
			r.out.Tables = append(r.out.Tables, TableName{t.Schema.O, t.Name.O})
		}
	})
}

// tablesIn calls f with every table name in a syntax tree, found by type.
func tablesIn(v reflect.Value, been map[uintptr]bool, f func(*ast.TableName)) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || been[v.Pointer()] {
			return
		}
		been[v.Pointer()] = true
		if t, ok := nodeOf(v).(*ast.TableName); ok {
			f(t)
			return
		}
		tablesIn(v.Elem(), been, f)
	case reflect.Interface:
		tablesIn(v.Elem(), been, f)
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			tablesIn(v.Index(i), been, f)
		}
	case reflect.Struct:
		if !strings.HasSuffix(v.Type().PkgPath(), "/ast") {
			return
		}
		for i := range v.NumField() {
			tablesIn(v.Field(i), been, f)
		}
	default:
	}
}

func nodeOf(v reflect.Value) any {
	if !v.CanInterface() {
		return nil
	}
	return v.Interface()
}
