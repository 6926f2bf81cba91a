package sysvars

import (
	"math"
	"strconv"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
)

// limited applies LIMIT [offset,] count to rows of the proxy.
func limited(rows [][]string, clause string) ([][]string, error) {
	numbers := strings.FieldsFunc(strings.ToLower(clause), func(r rune) bool { return r == ' ' || r == ',' || r == '\t' || r == '\n' })
	if len(numbers) == 0 {
		return rows, nil
	}
	if len(numbers) == 4 && numbers[2] == "offset" {
		numbers = []string{numbers[0], numbers[3], numbers[1]}
	}
	window := [2]uint64{0, math.MaxUint64} // offset, count
	for i, at := range map[int][]int{2: {1}, 3: {0, 1}}[len(numbers)] {
		n, err := strconv.ParseUint(numbers[i+1], 10, 64)
		if err != nil {
			return nil, BadLimit()
		}
		window[at] = n
	}
	rows = rows[min(window[0], uint64(len(rows))):]
	return rows[:min(window[1], uint64(len(rows)))], nil
}

// BadLimit returns the error of a LIMIT without valid numbers.
func BadLimit() error {
	return wire.Errorf(mysql.ER_PARSE_ERROR, "42000", "LIMIT takes whole numbers from 0 up")
}
