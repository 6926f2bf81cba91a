package docs

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"locus/idgen/format"
)

// requirements is how many there are.
const requirements = 178

// Each requirement has one row, in order, which says whether it is met. A requirement that is met in another way, or not at
// all, has a reason or a remedy.
func TestEveryRequirementHasARow(t *testing.T) {
	const page = "docs/reference/id-requirements.md"
	row := regexp.MustCompile(`^\| (\d+) \| (.+) \| (yes|more|other|no) \| (.+) \|$`)
	next := 1
	for line := range strings.SplitSeq(read(t, page), "\n") {
		if !regexp.MustCompile(`^\| \d`).MatchString(line) {
			continue
		}
		m := row.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("%s: %s: a row has a number, the requirement, yes, more, other or no, and where", page, line)
			continue
		}
		if n, err := strconv.Atoi(m[1]); err != nil || n != next {
			t.Errorf("%s: row %s comes where %d is expected", page, m[1], next)
		}
		if (m[3] == "other" || m[3] == "no") && len(strings.Fields(m[4])) < 4 {
			t.Errorf("%s: row %s is met otherwise, or not, and has no reason", page, m[1])
		}
		for _, template := range regexp.MustCompile("`([^`:]*\\{(?:seq|time|context|check|calc|gene)[^`…]*)`").FindAllStringSubmatch(m[4], -1) {
			if _, err := format.Parse(template[1], format.Parts()); err != nil && !strings.Contains(err.Error(), "it has 0 sequences") {
				t.Errorf("%s: row %s: %v", page, m[1], err)
			}
		}
		next++
	}
	if next != requirements+1 {
		t.Errorf("%s has %d rows of %d", page, next-1, requirements)
	}
}
