package stmt

import (
	"errors"
	"strings"
	"testing"
)

var (
	onMariaDB = []Server{{true, 101119}}
	onMySQL   = []Server{{false, 90704}}
	onMySQL8  = []Server{{false, 80036}}
	onBoth    = []Server{onMariaDB[0], onMySQL[0]}
)

// The results were obtained from MariaDB 10.11.19 and MySQL 9.7.4; * means that the server refuses the text.
func TestWhatTheShardsRunIsLeft(t *testing.T) {
	for _, c := range []struct{ text, mariadb, mysql string }{
		{"SELECT 1 /*! +1 */", "SELECT 1 +1", "="},
		{"SELECT 1 /*!*/", "SELECT 1", "="},
		{"SELECT 5--/*!1*/", "*", "*"},
		{"SELECT 5/*!--*/1", "*", "*"},
		{"SELECT 1 /*!;*/ SELECT 2", "*", "*"},
		{"SELECT 1 /*!4000 +1 */", "SELECT 1 4000 +1", "="},
		{"SELECT 1 /*!40000+1*/", "SELECT 1 +1", "="},
		{"SELECT 1 /*!50699 +1 */", "SELECT 1 +1", "="},
		{"SELECT 1 /*!50700 +1 */", "SELECT 1", "SELECT 1 +1"},
		{"SELECT 1 /*!80000 +1 */", "SELECT 1", "SELECT 1 +1"},
		{"SELECT 1 /*!080000 +1 */", "SELECT 1", "SELECT 1 +1"},
		{"SELECT 1 /*!080000, 6*/", "SELECT 1", "SELECT 1 0, 6"},
		{"SELECT 1 /*!400001+1*/", "SELECT 1", "SELECT 1 1+1"},
		{"SELECT 1 /*!050000 +1 */", "SELECT 1 +1", "="},
		{"SELECT 1 /*!0800340 +1 */", "SELECT 1", "SELECT 1 40 +1"},
		{"SELECT 1 /*!90704 +1 */", "SELECT 1", "SELECT 1 +1"},
		{"SELECT 1 /*!90705 +1 */", "SELECT 1", "="},
		{"SELECT 1 /*!99999 +1 */", "SELECT 1", "="},
		{"SELECT 1 /*!100000 +1 */", "SELECT 1 +1", "SELECT 1"},
		{"SELECT 1 /*!101119 +1 */", "SELECT 1 +1", "SELECT 1"},
		{"SELECT 1 /*!101120 +1 */", "SELECT 1", "="},
		{"SELECT 1 /*!999999 +1 */", "SELECT 1", "="},
		{"SELECT 1 /*! 99999 +1 */", "SELECT 1 99999 +1", "="},
		{"SELECT 1 /* !40000 +1 */", "SELECT 1 /* !40000 +1 */", "="},
		{"SELECT 1 /*M! +1 */", "SELECT 1 +1", "SELECT 1"},
		{"SELECT 1 /*M!50700 +1 */", "SELECT 1 +1", "SELECT 1"},
		{"SELECT 1 /*M!999999 +1 */", "SELECT 1", "="},
		{"SELECT 1 /*m!100100 +1 */", "SELECT 1 /*m!100100 +1 */", "="},
		{"SELECT 1 /*!40000 + /* 5 */ 1 */ + 1", "SELECT 1 + /* 5 */ 1 + 1", "="},
		{"SELECT 1 /*!40000 + 1 /* 5 */*/ + 1", "SELECT 1 + 1 /* 5 */ + 1", "="},
		{"SELECT 1 /*!40000 + /*!99999 5 */ 1 */ + 1", "SELECT 1 + 1 + 1", "="},
		{"SELECT 1 /*!40000 + /*M!40000 5 */ 1 */ + 1", "*", "SELECT 1 + 1 + 1"},
		{"SELECT 1 /*!40000 + /*! 5 */ + 1", "*", "*"},
		{"SELECT 1 /*!40000 + /*!40000 5 */ + 1 */ + 1", "*", "*"},
		{"SELECT 1 /*!99999 + /* 5 */ 1 */ + 1", "SELECT 1 + 1", "="},
		{"SELECT 1 /*!99999 + /* 5 /* */ 1 */ + 1", "SELECT 1 + 1", "="},
		{"SELECT 1 /*!99999 + /*! 5 */ 1 */ + 1", "SELECT 1 + 1", "="},
		{"SELECT 1 /*!99999 + /* 5 */", "*", "*"},
		{"SELECT 1 /*!99999/*/ + 1 */ + 2", "*", "*"},
		{"SELECT 1 /*!99999/*/*/ + 1 */ + 2", "SELECT 1 + 2", "="},
		{"SELECT 1 /*!99999 ' */ + 1 -- '", "SELECT 1 + 1 -- '", "="},
		{"SELECT 1 /*!99999 -- */ + 1", "SELECT 1 + 1", "="},
		{"SELECT 1 /*!40000 + '*/' */", "SELECT 1 + '*/'", "="},
		{"SELECT 1 /*!40000 + 'a\\' */ ' */", "SELECT 1 + 'a\\' */ '", "="},
		{"SELECT 1 /*!40000 -- */ \n + 4 */ + 1", "SELECT 1 -- */ \n + 4 + 1", "="},
		{"SELECT 1 /*!40000 # */ \n + 4 */ + 1", "SELECT 1 # */ \n + 4 + 1", "="},
		{"SELECT 1 /*!40000 + 1", "*", "*"},
		{"SELECT 1 /*!40000 + 1; */", "SELECT 1 + 1;", "="},
		{"SELECT 1 /*!40000 ; SELECT 2 */", "*", "*"},
		{"/*!40000 */", "/**/", "="},
		{"UPDATE /*!99999 ' */ t SET version=version -- '", "UPDATE t SET version=version -- '", "="},
		{"/*!50003 CREATE*/ /*!50017 DEFINER=a@b*/ /*!50003 TRIGGER x BEFORE INSERT ON t FOR EACH ROW BEGIN /* ; */ SET a = 1; SET b = '*/'; END */", "CREATE DEFINER=a@b TRIGGER x BEFORE INSERT ON t FOR EACH ROW BEGIN /* ; */ SET a = 1; SET b = '*/'; END", "="},
	} {
		if c.mysql == "=" {
			c.mysql = c.mariadb
		}
		both := "*"
		if c.mysql == c.mariadb {
			both = c.mysql
		}
		for _, on := range []struct {
			servers []Server
			want    string
		}{{onMariaDB, c.mariadb}, {onMySQL, c.mysql}, {onBoth, both}} {
			var l Lexed
			text := []byte(c.text)
			l.Lex(text, 0)
			l.Resolve(on.servers)
			text = l.Text
			got := strings.Join(strings.Fields(string(text)), " ")
			if l.Err != nil {
				got = "*"
			}
			if got != strings.Join(strings.Fields(on.want), " ") || l.Conditional || strings.Count(string(text), "\n") != strings.Count(c.text, "\n") {
				t.Errorf("%s\n on %s: %q (%v)\n    want %q", c.text, versions(on.servers), text, l.Err, on.want)
			}
		}
	}
}

// Servers name columns by their expressions, in which such comments have left nothing.
func TestNothingIsLeftOfACommentThatIsSkipped(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"SELECT MIN( /*!99998 + 1 */ k) FROM t", "SELECT MIN(  k) FROM t"},
		{"SELECT COALESCE(x /*!50000 , 0) */  FROM t", "SELECT COALESCE(x  , 0)   FROM t"},
		{"SELECT(/*!50000 1*/)", "SELECT( 1)"},
		{"SELECT/*!99999 x */1", "SELECT 1"},
		{"SELECT 'a'/*!*/'b'", "SELECT 'a' 'b'"},
		{"SELECT 1/*!50000-*/-1", "SELECT 1 - -1"},
		{"SELECT COUNT/*!99999 x */(*)", "SELECT COUNT (*)"},
		{"SELECT 1; /*!99999 x */", "SELECT 1; /**/"},
		{"/*!99999 x */ SELECT 1", "/**/ SELECT 1"},
		{"/*!99999 x */ /*!99999 y */ SELECT 1; /*!99999 x */ /*!99999 y */", "/**/  SELECT 1; /**/ "},
		{"SELECT 1 + #;\n/*!99999 x */ 2", "SELECT 1 + #;\n 2"},
		{"SELECT 1 + /* ;*/ /*!99999 x */ ';' /*!99999 x */ + 2", "SELECT 1 + /* ;*/  ';'  + 2"},
		{"/*!50000 */", " /**/"},
		{"/*!50000 CREATE*/ /*!50000 VIEW*/ v", " CREATE  VIEW v"},
	} {
		var l Lexed
		l.Lex([]byte(c.text), 0)
		l.Resolve(onBoth)
		if got := string(l.Text); got != c.want || l.Err != nil {
			t.Errorf("%s: %q (%v), want %q", c.text, got, l.Err, c.want)
		}
	}
}

// Right behind two minus signs it leaves a comment, which is refused there.
func TestNoCommentIsSkippedBehindTwoMinusSigns(t *testing.T) {
	var l Lexed
	l.Lex([]byte("SELECT 5 --/*!99999 x */ 1"), 0)
	l.Resolve(onBoth)
	if _, uncertain := errors.AsType[*Uncertain](l.Err); !uncertain {
		t.Errorf("read as %q (%v)", l.Text, l.Err)
	}
}

// A position refers to the text as the client sent it.
func TestPositionsBehindAResolvedComment(t *testing.T) {
	for _, text := range []string{"SELECT 1 /*!99999 + 2 */ + \x01", "SELECT /*!50000 1 + */ \\N", "SELECT /*!50000 [", "SELECT 1 /*!50000 + */ 2 /*!99999 x */ [ 1"} {
		var l Lexed
		l.Lex([]byte(text), 0)
		l.Resolve(onBoth)
		var u *Uncertain
		if !errors.As(l.Err, &u) || u.Byte != text[u.At] {
			t.Errorf("%q: %v", text, l.Err)
		}
	}
}

func TestWhatNotAllServersReadAlikeIsRefused(t *testing.T) {
	for _, c := range []struct {
		text    string
		servers []Server
		read    bool
	}{
		{"SELECT 1 /*!40101 + 1 */", nil, true},
		{"SELECT 1 /*!80000 + 1 */", nil, false},
		{"SELECT 1 /*M! + 1 */", nil, false},
		{"SELECT 1 /*!080000 + 1 */", onMySQL8, false},
		{"SELECT 1 /*!999999 + 1 */", onMySQL8, true},
		{"SELECT 1 /*!80036 + 1 */", append(onMySQL8[:1:1], onMySQL...), true},
		{"SELECT 1 /*!80037 + 1 */", append(onMySQL8[:1:1], onMySQL...), false},
	} {
		var l Lexed
		l.Lex([]byte(c.text), 0)
		if l.Resolve(c.servers); l.Err == nil != c.read {
			t.Errorf("%s on %v: %v", c.text, c.servers, l.Err)
		}
	}
}

func TestServersAreKnownByTheirGreeting(t *testing.T) {
	for version, want := range map[string]Server{
		"10.11.19-MariaDB-0+deb12u1": {true, 101119}, "5.5.5-10.6.4-MariaDB": {true, 100604}, "9.7.4-2": {false, 90704}, "8.0.36": {false, 80036},
		"8.0.mysql_aurora.3.08": {false, 80000}, "5.7.44-log": {false, 50744}, "11.4-MariaDB": {true, 110400},
	} {
		if got, ok := ServerOf(version); got != want || !ok {
			t.Errorf("%s: %v, %v", version, got, ok)
		}
	}
	if _, ok := ServerOf("unknown"); ok {
		t.Error("a version was found where none stands")
	}
}
