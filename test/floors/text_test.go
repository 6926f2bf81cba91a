package floors

import (
	"bufio"
	"bytes"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// looksAtText are the functions outside of router/stmt that may read the text of a statement, by the reason. Any other
// function that reads a text would be a second parser, which may read something else.
var looksAtText = map[string][]string{
	"it keeps the text that router/stmt has resolved": {
		"proxy/session (*Session).prepareText",
		"proxy/session (*Session).runImmediate",
	},
	"it counts how long the text is": {
		"proxy/kept (*Statements).Name",
		"proxy/kept (*Statements).Forget",
	},
	"it cuts the text at places that router/stmt has found": {
		"proxy/exec (*Execution).Spliced",
		"proxy/exec (*Execution).WithValues",
		"proxy/session (*Session).boundText",
		"router/plan fieldNames",
		"router/plan (*explainer).texts",
		"proxy/session (*Session).numbered",
		"proxy/session (*Session).addParams",
		"proxy/session (*Session).explain",
		"proxy/session (*Session).explainInForm",
		"proxy/session (*Session).serverPlans",
		"proxy/session (*Session).explainedParts",
		"proxy/session (*Session).preparable",
		"router/plan (*InsertQuery).Around",
		"proxy/exec (*Execution).runInsertQuery",
		"proxy/exec (*Execution).scattering",
		"proxy/exec (*carrying).part",
		"proxy/exec (*gathering).answer",
		"proxy/exec (*gathering).selectKeys",
		"proxy/exec routedParts",
		"proxy/exec (*Execution).between",
		"proxy/exec (*Execution).limit",
		"proxy/exec (*gathering).named",
		"proxy/exec (*gathering).compute",
		"proxy/exec (*gathering).summed",
		"proxy/exec (*gathering).filters",
		"proxy/exec (*gathering).sumUp",
		"router/plan (*Partial).Queries",
		"proxy/sysvars (*Answers).Rewrite",
		"proxy/stamp (*Stamper).end",
		"proxy/stamp (*writer).copyTo",
		"router/plan (*InsertQuery).Lex",
		"router/plan (*TemporaryCopy).Lex",
		"router/plan (*TemporaryCopy).Filled",
		"proxy/exec (*gathering).stage",
		"router/plan (*Selection).Lex",
		"router/plan (*expansion).field",
		"router/plan (*expansion).text",
		"router/plan (*explainer).piece",
		"router/plan (*Stamped).explainRows",
		"router/plan (*Stamped).explainSet",
		"router/plan (*explainer).summedUp",
		"router/plan (*explainer).spliced",
		"router/plan (*explainer).gathered",
	},
	"it sends the whole text, or has router/stmt read it": {
		"proxy/session (*Session).prepare",
		"proxy/exec (*Execution).mirrored",
		"proxy/session (*Session).explainedText",
		"proxy/exec (*Execution).ReadParts",
		"proxy/exec (*Execution).prepareTextual",
		"proxy/session (*Session).preparedText",
		"proxy/exec (*Execution).executePacket",
		"proxy/session (*Session).executePrepared",
		"proxy/session (*Session).runPrepared",
		"proxy/session (*Session).runsThere",
		"proxy/exec (*Execution).packet",
		"proxy/session (*Session).runChanged",
		"proxy/session (*Session).runDefinition",
		"proxy/session (*Session).replanHeld",
		"proxy/ddl (*definition).text",
		"proxy/exec (*maintenance).ask",
		"proxy/ddl (*definition).defineDatabaseOn",
		"proxy/ddl (*Session).DefineTrigger",
		"proxy/session (*Session).planned",
		"router/plan isOneStatement",
	},
	"it quotes the text in an error": {
		"proxy/session (*Session).quoteRest",
		"router/plan refuseSeveral",
	},
	"it writes SHOW's condition into the query that answers it": {
		"proxy/sysvars (*Answers).showOwnTables",
		"proxy/sysvars (*Answers).showOwnColumns",
		"proxy/sysvars (*Answers).showOwnStatus",
		"proxy/sysvars (*Answers).Patched",
		"proxy/sysvars (*Answers).showValues",
		"proxy/sysvars (*Answers).withCounters",
		"proxy/sysvars (*Evaluator).ShowDiagnostics",
	},
}

// statementText are the fields that hold a statement's text, or a part of it.
var statementText = []string{
	"locus/router/stmt.Lexed Text",
	"locus/router/stmt.Shown Clause",
	"locus/router/stmt.TextPrepared Text",
	"locus/proxy/kept.Statement Text",
	"locus/proxy/exec.Execution Payload",
	"locus/proxy/kept.Text Text",
}

func TestOnePackageReadsStatements(t *testing.T) {
	read := readTyped(t, "./proxy/...", "./router/plan")
	may, used := map[string]bool{}, map[string]bool{}
	for _, names := range looksAtText {
		for _, name := range names {
			may[name] = true
		}
	}
	for path := range read.folders {
		inside, own := strings.CutPrefix(path, "locus/")
		if !own || !within(inside, "proxy") && inside != "router/plan" {
			continue
		}
		for at, name := range read.looking(t, path) {
			name = inside + " " + name
			if used[name] = true; !may[name] {
				t.Errorf("%s: %s looks at the text of a statement: have router/stmt find what is wanted, or say in looksAtText why not", read.files.Position(at), name)
			}
		}
	}
	for name := range may {
		if !used[name] {
			t.Errorf("%s does not look at texts: take it off the list", name)
		}
	}
}

// typed is a tree with its types. The package under test is read from its sources, and all others from the compiler's export
// data.
type typed struct {
	files            *token.FileSet
	exports, folders map[string]string // by import path
	sources          map[string][]string
}

func readTyped(t *testing.T, patterns ...string) typed {
	t.Helper()
	list := exec.Command("go", append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}\t{{.Dir}}\t{{join .GoFiles \" \"}}"}, patterns...)...)
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	read := typed{token.NewFileSet(), map[string]string{}, map[string]string{}, map[string][]string{}}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		if f := strings.Split(lines.Text(), "\t"); len(f) == 4 {
			read.exports[f[0]], read.folders[f[0]], read.sources[f[0]] = f[1], f[2], strings.Fields(f[3])
		}
	}
	return read
}

// looking finds the functions of a package that use such a field.
func (r typed) looking(t *testing.T, path string) map[token.Pos]string {
	t.Helper()
	found := map[token.Pos]string{}
	files, info := r.check(t, path)
	for _, file := range files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && holdsText(info.Selections[s]) {
					found[s.Pos()] = functionName(f)
				}
				return true
			})
		}
	}
	return found
}

func (r typed) check(t *testing.T, path string) ([]*ast.File, *types.Info) {
	t.Helper()
	var files []*ast.File
	for _, name := range r.sources[path] {
		file, err := parser.ParseFile(r.files, filepath.Join(r.folders[path], name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	info := &types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}}
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(r.exports[path]) }
	config := types.Config{Importer: importer.ForCompiler(r.files, "gc", lookup)}
	if _, err := config.Check(path, r.files, files, info); err != nil {
		t.Fatal(err)
	}
	return files, info
}

// holdsText reports whether a field is a statement's text, even if it is reached through embedded structs.
func holdsText(s *types.Selection) bool {
	if s == nil || s.Kind() != types.FieldVal {
		return false
	}
	owner := pointed(s.Recv())
	for _, i := range s.Index()[:len(s.Index())-1] {
		owner = pointed(owner.Underlying().(*types.Struct).Field(i).Type())
	}
	return slices.Contains(statementText, owner.String()+" "+s.Obj().Name())
}

func pointed(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	return "(" + types.ExprString(f.Recv.List[0].Type) + ")." + f.Name.Name
}
