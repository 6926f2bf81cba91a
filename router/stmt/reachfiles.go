package stmt

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// engines store rows in the server's own files of a database, and reach no other server.
var engines = set(`innodb myisam aria memory heap archive blackhole merge mrg_myisam rocksdb tokudb columnstore mroonga sequence ndb ndbcluster default`)

// elsewhere are engines that store rows in files or servers that a table's options choose.
var elsewhere = set("connect federated federatedx csv spider s3 sphinx oqgraph ha_connect cassandra example http")

// files returns the option by which a definition chooses files, other servers, or an engine that does so, or "".
func (u units) files(verb int, program ProgramKind) string {
	if program == NoProgram && !u.is(verb, "create", "alter") {
		return ""
	}
	depth, query := 0, program != NoProgram
	for i := range u {
		switch u[i].char {
		case '(':
			depth++
		case ')':
			depth--
		}
		switch word := u.keyword(i); {
		case depth == 0 && (word == "select" || word == "with" || word == "as"):
			query = true
		case (word == "data" || word == "index") && u.is(i+1, "directory") && u.valued(i+2) != "":
			return strings.ToUpper(word) + " DIRECTORY"
		case word == "engine":
			if name := lower(u.valued(i + 1)); elsewhere[name] || depth == 0 && !query && name != "" && !engines[name] {
				return "ENGINE = " + strings.ToUpper(name)
			}
		case depth == 0 && !query && u.at(i+1).char == '=' && (word == "connection" || word == "file_name" || word == "table_type"):
			return strings.ToUpper(word)
		}
	}
	return ""
}

// valued returns the value of an option at i, behind = or not.
func (u units) valued(i int) string {
	if u.at(i).char == '=' {
		i++
	}
	x := u.at(i)
	if x.literal != nil {
		return strings.Trim(string(x.literal), `'"`)
	}
	return x.word
}

// chosenFiles is files for a statement that the parser supports.
func chosenFiles(node ast.StmtNode) string {
	var all []*ast.TableOption
	ofPartitions := func(list []*ast.PartitionDefinition) {
		for _, p := range list {
			all = append(all, p.Options...)
			for _, sub := range p.Sub {
				all = append(all, sub.Options...)
			}
		}
	}
	switch n := node.(type) {
	case *ast.CreateTableStmt:
		all = append(all, n.Options...)
		if n.Partition != nil {
			ofPartitions(n.Partition.Definitions)
		}
	case *ast.AlterTableStmt:
		for _, spec := range n.Specs {
			all = append(all, spec.Options...)
			ofPartitions(spec.PartDefinitions)
			if spec.Partition != nil {
				ofPartitions(spec.Partition.Definitions)
			}
		}
	case *ast.CreateSequenceStmt:
		all = n.TblOptions
	}
	for _, o := range all {
		switch {
		case o.Tp == ast.TableOptionDataDirectory:
			return "DATA DIRECTORY"
		case o.Tp == ast.TableOptionIndexDirectory:
			return "INDEX DIRECTORY"
		case o.Tp == ast.TableOptionConnection:
			return "CONNECTION"
		case o.Tp == ast.TableOptionEngine && o.StrValue != "" && !engines[lower(o.StrValue)]:
			return "ENGINE = " + strings.ToUpper(o.StrValue)
		}
	}
	return ""
}
