package wire

import (
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"
)

func TestTemporalText(t *testing.T) {
	for _, c := range []struct {
		typ   byte
		value []byte
		want  string
	}{
		{mysql.MYSQL_TYPE_DATE, nil, "0000-00-00"},
		{mysql.MYSQL_TYPE_DATE, []byte{0xe8, 7, 2, 29}, "2024-02-29"},
		{mysql.MYSQL_TYPE_DATETIME, []byte{0xe8, 7, 2, 29}, "2024-02-29 00:00:00"},
		{mysql.MYSQL_TYPE_DATETIME, []byte{0xe8, 7, 2, 29, 23, 5, 59}, "2024-02-29 23:05:59"},
		{mysql.MYSQL_TYPE_TIMESTAMP, []byte{0xe8, 7, 2, 29, 23, 5, 59, 1, 0, 0, 0}, "2024-02-29 23:05:59.000001"},
		{mysql.MYSQL_TYPE_TIME, nil, "00:00:00"},
		{mysql.MYSQL_TYPE_TIME, []byte{1, 34, 0, 0, 0, 22, 59, 58}, "-838:59:58"},
		{mysql.MYSQL_TYPE_TIME, []byte{0, 0, 0, 0, 0, 1, 2, 3, 64, 226, 1, 0}, "01:02:03.123456"},
		{mysql.MYSQL_TYPE_TIME, []byte{0, 0, 0, 0, 0, 1}, "error"},
		{mysql.MYSQL_TYPE_DATE, []byte{1, 2}, "error"},
	} {
		got, err := TemporalText(c.typ, c.value)
		if err != nil {
			got = "error"
		}
		if got != c.want {
			t.Errorf("type %d of % x: %s, want %s", c.typ, c.value, got, c.want)
		}
	}
}
