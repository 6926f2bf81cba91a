package checkpoint

import (
	"fmt"

	"locus/migrate/link"
)

// Repair is a row that was made equal to another server's.
type Repair struct {
	Job, Table string
	Took       string // the server whose row it is now
	By         string
	Was        []byte // the values as SQL; nil if there was no row
	Became     []byte
}

// AppendRepair appends the statement that stores a repair.
func AppendRepair(b []byte, r Repair) []byte {
	return fmt.Appendf(b, "INSERT INTO locus.move_repair (job, table_name, took, by_whom, was, became) VALUES (%s, %s, %s, %s, %s, %s)",
		link.Text(cut(r.Job, 128)), link.Text(cut(r.Table, 400)), link.Text(cut(r.Took, 400)), link.Text(cut(r.By, 400)), image(r.Was), image(r.Became))
}

// cut truncates a text to the length of its column.
func cut(s string, most int) string { return s[:min(len(s), most)] }

func image(v []byte) string {
	if v == nil {
		return "NULL"
	}
	return link.Text(string(v))
}
