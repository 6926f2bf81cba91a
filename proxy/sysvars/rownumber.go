package sysvars

import (
	"regexp"
	"slices"
	"strconv"
)

// atRow matches the end of a server's message about a row of an INSERT.
var atRow = regexp.MustCompile(` at row (\d+)$`)

// RenumberMessage returns a server's message about a row of one shard's part of an INSERT, with the number of that row in the client's statement. It
// also returns that number. rows contains the numbers of the part's rows, in order. Other messages are returned unchanged, with the number 0.
func RenumberMessage(message string, rows []int) (string, int) {
	at := atRow.FindStringSubmatchIndex(message)
	if at == nil {
		return message, 0
	}
	n, err := strconv.Atoi(message[at[2]:at[3]])
	if err != nil || n < 1 || n > len(rows) {
		return message, 0
	}
	return message[:at[2]] + strconv.Itoa(rows[n-1]), rows[n-1]
}

// Renumber applies [RenumberMessage] to the conditions from an index on, which one shard has reported.
func (d *Diagnostics) Renumber(from int, rows []int) {
	for i := range d.Conditions[from:] {
		c := &d.Conditions[from+i]
		c.message, c.row = RenumberMessage(c.message, rows)
	}
}

// SortByRow sorts the conditions from an index on by the statement's rows. A condition that names no row stays after the one that it followed.
func (d *Diagnostics) SortByRow(from int) {
	list := d.Conditions[from:]
	for i := 1; i < len(list); i++ {
		if list[i].row == 0 {
			list[i].row = list[i-1].row
		}
	}
	slices.SortStableFunc(list, func(a, b Condition) int { return a.row - b.row })
}

// deprecatedSyntax is the code of a warning about deprecated syntax.
const deprecatedSyntax = "1287"

// DropDeprecations removes the warnings about deprecated syntax from an index on, and returns how many there were. A server reports them once for
// a statement, so they are kept of one of its parts.
func (d *Diagnostics) DropDeprecations(from int) (dropped uint16) {
	before := len(d.Conditions)
	rest := slices.DeleteFunc(d.Conditions[from:], func(c Condition) bool { return c.code == deprecatedSyntax })
	d.Conditions = d.Conditions[:from+len(rest)]
	return uint16(before - len(d.Conditions))
}
