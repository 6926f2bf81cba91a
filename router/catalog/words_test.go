package catalog

import (
	"reflect"
	"strings"
	"testing"
)

func TestSaid(t *testing.T) {
	for comment, want := range map[string]string{
		"locus: owner=a id=b":                     "owner=a id=b",
		"  Locus:global":                          "global",
		"locus: global; one row for each country": "global",
		"locus:":                "",
		"orders of the shop":    "none",
		"see locus: the manual": "none",
		"":                      "none",
		"locus":                 "none",
	} {
		words, declares := CommentWords(comment)
		if !declares {
			words = "none"
		}
		if words != want {
			t.Errorf("%q says %q, want %q", comment, words, want)
		}
	}
}

func TestWordsAreReadAsTheyAreWritten(t *testing.T) {
	for _, words := range []string{
		"global",
		"shard=s1",
		"owner=buyer_uid id=order_id order_no=order_no version=version",
		"owner=buyer_uid id=order_id layout=bytes16 hidden",
		"owner=u id=i overflow=bytes16",
		"parent=order_id",
		"parent=order_id id=item_id layout=bytes16",
		"parent=order_id parent_layout=bytes16 id=item_id",
		"parent=order_id parent_overflow=bytes16 id=item_id",
		"parent=order_id parent_overflow=bytes16 id=item_id overflow=bytes16",
		"parent=order_id overflow=bytes16",
		"owner=a gene=g stamped.invoice=invoices stamped.slip=slips",
	} {
		d, err := ParseWords(words)
		if err != nil {
			t.Errorf("%s: %v", words, err)
			continue
		}
		again, err := ParseWords(d.Words())
		if err != nil || !reflect.DeepEqual(d, again) {
			t.Errorf("%s is written %q, which is read as %+v, %v", words, d.Words(), again, err)
		}
	}
	for words, want := range map[string][2]string{ // of the parent's ID and of the ID
		"parent=p parent_overflow=bytes16 id=i": {"bytes16", ""},
		"parent=p id=i overflow=bytes16":        {"", "bytes16"},
		"parent=p overflow=bytes16":             {"bytes16", ""},
	} {
		d, err := ParseWords(words)
		if err != nil {
			t.Fatal(words, err)
		}
		id := ""
		if d.ID != nil {
			id = d.ID.Overflow
		}
		if got := [2]string{d.Parent.Overflow, id}; got != want {
			t.Errorf("%s: %v, want %v", words, got, want)
		}
	}
	d, err := ParseWords("owner=buyer_uid id=order_id")
	if want := (Declaration{Kind: Sharded, Owner: "buyer_uid", ID: &IDColumn{Column: "order_id", Layout: "int64"}}); err != nil || !reflect.DeepEqual(d, want) {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestWordsThatDeclareNonsense(t *testing.T) {
	for words, want := range map[string]string{
		"":                                     "the table has no words",
		"owner=a owner=b id=c":                 "owner is given twice",
		"owner=a parent=b":                     "one of the two",
		"owners=a":                             "the words are global",
		"owner=":                               "owner needs a value",
		"global owner=a":                       "not routed by a gene",
		"global shard=s0":                      "remove `shard:`",
		"owner=a id=b layout=int7":             "int7",
		"owner=a gene=g layout=int64":          "layout describes a column that isn't named",
		"owner=a gene=g order_no=n":            "declare `id:` too",
		"owner=a id=b stamped.=invoices":       "the words are",
		"global=yes":                           "the words are",
		"globl":                                ": did you mean global?",
		"Global":                               ": did you mean global?",
		"ower=a id=b":                          ": did you mean owner?",
		"owner=a idd=b":                        ": did you mean id?",
		"owner=a id=b order_nr=c":              ": did you mean order_no?",
		"owner=a id=b layout=int46":            `no layout is named "int46": choose one of`,
		"owner=a id=b layout=bytes61":          ": did you mean bytes16?",
		"owner=a id=b overflow=byte16":         ": did you mean bytes16?",
		"owner=a id=b parent_overflow=bytes16": "parent_overflow describes a column that isn't named",
		"parent=p layout=bytes16 overflow=bytes16 id=i": "overflow is for a layout of 8 bytes",
	} {
		if d, err := ParseWords(words); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v; want %q", words, d, err, want)
		}
	}
}

func TestWhatACommentSaysMayBeLess(t *testing.T) {
	declared, err := ParseWords("owner=a id=b order_no=n version=v")
	if err != nil {
		t.Fatal(err)
	}
	declared.ID.Segments.Start = 7
	for words, want := range map[string]bool{
		"owner=a id=b":                      true,
		"owner=a id=b order_no=n":           true,
		"owner=a id=b order_no=m":           false,
		"owner=c id=b":                      false,
		"owner=a id=b layout=bytes16":       false,
		"owner=a id=c":                      false,
		"owner=a id=b stamped.x=generator":  false,
		"parent=a id=b":                     false,
		"global":                            false,
		"owner=a id=b order_no=n version=v": true,
	} {
		said, err := ParseWords(words)
		if err != nil {
			t.Fatal(words, err)
		}
		if declared.Agrees(said) != want {
			t.Errorf("%q agrees: %v", words, !want)
		}
	}
}
