package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// TemporalText formats a parameter's date or time as MySQL does.
func TemporalText(typ byte, value []byte) (string, error) {
	if typ == mysql.MYSQL_TYPE_TIME {
		return timeText(value)
	}
	var year uint16
	var part [5]byte // month, day, hour, minute, second
	var micros uint32
	switch len(value) {
	default:
		return "", fmt.Errorf("a date of %d bytes", len(value))
	case 0:
	case 4, 7, 11:
		year = binary.LittleEndian.Uint16(value)
		copy(part[:], value[2:min(len(value), 7)])
	}
	if len(value) == 11 {
		micros = binary.LittleEndian.Uint32(value[7:])
	}
	date := fmt.Sprintf("%04d-%02d-%02d", year, part[0], part[1])
	if typ == mysql.MYSQL_TYPE_DATE || typ == mysql.MYSQL_TYPE_NEWDATE {
		return date, nil
	}
	return fmt.Sprintf("%s %02d:%02d:%02d%s", date, part[2], part[3], part[4], fraction(micros)), nil
}

func timeText(value []byte) (string, error) {
	switch len(value) {
	default:
		return "", fmt.Errorf("a time of %d bytes", len(value))
	case 0:
		return "00:00:00", nil
	case 8, 12:
	}
	sign := ""
	if value[0] != 0 {
		sign = "-"
	}
	hours := uint64(binary.LittleEndian.Uint32(value[1:]))*24 + uint64(value[5])
	micros := uint32(0)
	if len(value) == 12 {
		micros = binary.LittleEndian.Uint32(value[8:])
	}
	return fmt.Sprintf("%s%02d:%02d:%02d%s", sign, hours, value[6], value[7], fraction(micros)), nil
}

func fraction(micros uint32) string {
	if micros == 0 {
		return ""
	}
	return fmt.Sprintf(".%06d", micros)
}
