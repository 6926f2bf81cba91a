package stmt

import (
	"strings"
	"sync"

	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/charset"
)

// charsets are the servers' character sets that the parser lacks.
var charsets = strings.Fields(`armscii8 big5 cp1250 cp1251 cp1256 cp1257 cp850 cp852 cp866 cp932 dec8 eucjpms
	euckr gb2312 geostd8 greek hebrew hp8 keybcs2 koi8r koi8u latin2 latin5 latin7 macce macroman sjis swe7 tis620
	ucs2 ujis utf16 utf16le utf32`)

// parsers are created after the missing character sets were added to the parser. It refuses unknown ones, and nothing
// here depends on their contents.
var parsers = func() *sync.Pool {
	for _, name := range charsets {
		charset.AddCharset(&charset.Charset{
			Name: name, DefaultCollation: name + "_bin", Collations: map[string]*charset.Collation{}, Maxlen: 4,
		})
	}
	return &sync.Pool{New: func() any { return parser.New() }}
}()
