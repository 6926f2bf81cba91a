package sysvars

import (
	"regexp"
	"slices"
	"strconv"
)

// atRow is the end of a server's message about a row of an INSERT.
var atRow = regexp.MustCompile(` at row (\d+)$`)

// Renumbered returns a server's message about a row of one shard's part of an INSERT with the row's number in the client's statement,
// and that number. rows are the numbers of the part's rows, in order. Other messages are returned as they are, with the number 0.
func Renumbered(message string, rows []int) (string, int) {
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

// Renumber is [Renumbered] for the conditions from a place on, which one shard has reported.
func (d *Diagnostics) Renumber(from int, rows []int) {
	for i := range d.Conditions[from:] {
		c := &d.Conditions[from+i]
		c.message, c.row = Renumbered(c.message, rows)
	}
}

// SortByRow brings the conditions from a place on into the order of the statement's rows. A condition that names no row stays behind
// the one that it followed.
func (d *Diagnostics) SortByRow(from int) {
	list := d.Conditions[from:]
	for i := 1; i < len(list); i++ {
		if list[i].row == 0 {
			list[i].row = list[i-1].row
		}
	}
	slices.SortStableFunc(list, func(a, b Condition) int { return a.row - b.row })
}
