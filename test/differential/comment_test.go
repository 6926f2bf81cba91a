package differential

import (
	"encoding/hex"
	"math/rand/v2"
	"strings"
)

// blanks part words as a space does.
var blanks = []string{"\t", "\n", "\r\n", "\v", "\f", "\r", "  ", " \n\t "}

// remarks are texts for comments: SQL, unpaired quotes, and letters that only some character sets have.
var remarks = []string{
	"", "", " ", "x", " a comment ", "controller:orders,action:show", "traceparent='00-0af7651916cd43dd-b7ad6b7169203331-01',route='%2Forders%2F%3Aid'", " FROM account WHERE owner = 1 ", "WHERE 1 = 0", " , ( ", ") OR 1 = 1 OR (",
	"'", "it's", `say "so`, "`", "``", "'\"`", `\`, `\'`, "--", "-- ", " # ", "#", ";", "; DROP TABLE account;", "?", " ? ? ", ":x", "@v42", "*", "/", " /* ", "//", "* /", "%", "LIMIT 1", "INTO @x", "FOR UPDATE", "SELECT", "UNION SELECT 1",
	"zoë", "李雷", "Ünïcode 'quoted", "Ελλάς", "слово `", "日本語 /", "한국어", "é*", "🙂", "\u00a0", "T! x", "m! x", " ! + 1", " M! + 1", " + NO_ICP(x)", "locus", "\t", "0x41", "NULL",
}

// hintable are the words after which MySQL reads optimizer hints.
var hintable = map[string]bool{"SELECT": true, "INSERT": true, "REPLACE": true, "UPDATE": true, "DELETE": true}

var hints = []string{
	"/*+ MAX_EXECUTION_TIME(100000) */", "/*+ NO_SUCH_HINT(x) */", "/*+ BKA() NO_BNL() */", "/*+ QB_NAME(q) */", "/*+ NO_ICP(nosuch) */", "/*+ NO_MRR(`account`) */", "/*+*/", "/*+ x y z */", "/*+ NO_SEMIJOIN() -- */", "/*+ MAX_EXECUTION_TIME(100000) # */",
	"/*+ NO_MERGE(account) */", "/*+ SET_VAR(sort_buffer_size = 300000) */",
}

// anywhere are comments that resemble other syntax.
var anywhere = []string{
	"/*+ NO_ICP(x) */", "/* +x */", "/*T![x] y */", "/*m! + 1 */", "/*m!50000 ' */", "/* ! + 1 */", "/* !50000 + 1 */", "/***/", "/****/", "/*/ */", "/* **/", "/*\n*/", "/*-- */", "/*#*/", "/*\\*/", "/*'*/", "/*\"*/", "/*`*/",
}

// skipped are executable comments that no server of the tests' runs.
var skipped = []string{
	"/*!99999 ' */", "/*!99999 \" x */", "/*!99999 ` */", "/*!99999 FROM account WHERE owner = 1 */", "/*!99998 + 1 */", "/*!99999 -- */", "/*!99999*/", "/*!99999 ; DROP TABLE account */", "/*!99999 zoë */", "/*!99999 ) */", "/*!99999 # */",
}

// perhaps are executable comments after a number, which some servers execute.
var perhaps = []string{
	"/*! + 1 */", "/*!50000 + 1 */", "/*!50700 + 1 */", "/*!80000 - 1 */", "/*!90000 + 1 */", "/*!99999 + 1 */", "/*M! + 1 */", "/*M!100000 + 1 */", "/*M!101000 + 1 */", "/*M!99999 + 1 */", "/*!100100 + 1 */", "/*!40101+1*/", "/*!+1*/", "/*! */", "/*!*/", "/*!50000*/", "/*!50000 /* x */ + 1 */",
}

func hexed(text string) string { return hex.EncodeToString([]byte(text)) }

// comment returns a comment of a random kind. It always has an end.
func (s *speller) comment(r *rand.Rand, hinted bool) string {
	if hinted && r.IntN(3) == 0 {
		return " " + hints[r.IntN(len(hints))] + " "
	}
	text := s.inCharset(remarks[r.IntN(len(remarks))])
	if s.within > 0 { // servers part in deeper ones
		text = strings.NewReplacer("/*", "", "*/", "").Replace(text)
	}
	switch n := r.IntN(20); {
	case n < 4:
		return " -- " + text + "\n"
	case n < 5:
		return " --\t" + text + "\n"
	case n < 6:
		return " --\n"
	case n < 9:
		return " #" + text + "\n"
	case n < 11 && s.within == 0:
		return " " + s.inCharset(anywhere[r.IntN(len(anywhere))]) + " "
	case n < 13 && s.within == 0:
		return " " + s.inCharset(skipped[r.IntN(len(skipped))]) + " "
	case n < 16:
		return "/*" + text + "*/"
	}
	return " /*" + text + "*/ "
}

// ending returns the end of a statement.
func (s *speller) ending(r *rand.Rand) string {
	text := s.inCharset(remarks[r.IntN(len(remarks))])
	switch r.IntN(7) {
	case 0:
		return " -- " + text
	case 1:
		return " # " + text
	case 2:
		return " --"
	case 3:
		return ";"
	case 4:
		return " /*" + text + "*/ ;"
	}
	return " /*" + text + "*/"
}
