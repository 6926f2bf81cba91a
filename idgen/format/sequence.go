package format

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sequence is the parsed form of {seq:…}.
type sequence struct {
	digits  int                    // padded to so many; 0 for no padding
	per     string                 // layout of the time at which it restarts; empty for never
	spelled string                 // the text of that time's offset
	hidden  uint32                 // version of the key that hides it; 0 for none
	period  func(time.Time) string // nil if it never restarts
	keys    []string               // names of the values that have a counter of their own
}

// mostDigits is the number of digits of the largest number.
const mostDigits = 19

// fewestHidden is the fewest digits that have as many numbers as NIST SP 800-38G requires.
const fewestHidden = 6

// seqPart is {seq}, {seq:5}, {seq:5,per=yyyyMMdd} or {seq:8,hidden=1}: the sequence number, padded with zeros. With per it
// restarts at 1 in each such period, in UTC or with {seq:5,per=yyyyMMdd,zone=+08:00} at that offset. With hidden its digits are
// encrypted with that version of the key ring. With {seq:5,per=context:unit} each value of unit has a counter of its own; per=
// may be repeated, for several values and a time.
func seqPart(argument string) (Part, error) {
	s, err := readSequence(argument)
	if err != nil {
		return Part{}, err
	}
	return Part{
		Max: cmp.Or(s.digits, mostDigits), Fixed: s.digits > 0, Stage: Sequenced, Unique: true, Scope: s.per, Zone: s.spelled, Keys: s.keys, Hidden: s.hidden, Text: s.text,
	}, nil
}

func readSequence(argument string) (s sequence, err error) {
	digits, rest, _ := strings.Cut(argument, ",")
	if digits != "" {
		if s.digits, err = strconv.Atoi(digits); err != nil || s.digits < 1 || s.digits > mostDigits {
			return s, fmt.Errorf("%q: write seq, seq:5, seq:5,per=yyyyMMdd or seq:8,hidden=1, of 1 to %d digits", argument, mostDigits)
		}
	}
	zone, scoped := "", false
	for option := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(option, "=")
		switch name {
		case "": // none
		case "per":
			key, keyed := strings.CutPrefix(value, "context:")
			switch {
			case keyed && key == "", keyed && slices.Contains(s.keys, key):
				return s, fmt.Errorf("per=%s: name each value once, such as per=context:unit", value)
			case keyed:
				s.keys = append(s.keys, key)
			case scoped:
				return s, fmt.Errorf("per=%s: a sequence restarts with one time: write it as one layout, such as per=yyyyMMdd", value)
			default:
				s.per, scoped = value, true
			}
		case "zone":
			zone = ",zone=" + value
		case "hidden":
			version, err := strconv.ParseUint(value, 10, 20)
			if err != nil || version == 0 {
				return s, fmt.Errorf("hidden=%s: write the version of the key ring that hides it, such as hidden=1", value)
			}
			s.hidden = uint32(version)
		default:
			return s, fmt.Errorf("%q: a sequence has per, zone and hidden", option)
		}
	}
	if s.hidden != 0 && s.digits < fewestHidden {
		return s, fmt.Errorf("%q: what is hidden has a length, and fewer than a million numbers would be found by trying: give it %d to %d digits", argument, fewestHidden, mostDigits)
	}
	if !scoped {
		if zone != "" {
			return s, fmt.Errorf("%q: a zone is that of per=…", argument)
		}
		return s, nil
	}
	var at *time.Location
	if s.per, s.spelled, at, err = zoned(s.per + zone); err == nil {
		s.period, err = timeIn(s.per, at)
	}
	return s, err
}

func (s sequence) text(ctx context.Context, v *Values) (string, error) {
	scope, err := s.scope(v)
	if err != nil {
		return "", err
	}
	number, err := v.next(ctx, scope)
	if err != nil {
		return "", err
	}
	if most := cmp.Or(s.digits, mostDigits); number >= tens[most] {
		return "", fmt.Errorf("%d has more than %d digits: %w", number, most, ErrFull)
	}
	if s.hidden != 0 {
		if v.Hider == nil {
			return "", errNoKeys
		}
		if number, err = v.Hider.HideDigits(s.hidden, s.digits, tweak(v.Name, scope), number); err != nil {
			return "", err
		}
	}
	v.Sequence = number
	return padded(number, s.digits), nil
}

func (s sequence) scope(v *Values) (scope Scope, err error) {
	if s.period != nil {
		scope.Period = s.period(v.Now)
	}
	scope.Key, err = KeyOf(s.keys, v.Context)
	return scope, err
}

// KeyOf returns the key of the counter of these values, or "" if there are no names. Values that a column can store as equal texts
// have one key. A value that is missing, empty or not printable ASCII is a ValueError.
func KeyOf(names []string, values map[string]string) (string, error) {
	var folded []string
	for _, name := range names {
		value, given := values[name]
		if !given {
			return "", noValue(name)
		}
		key, err := fold(name, value)
		if err != nil {
			return "", err
		}
		folded = append(folded, key)
	}
	return strings.Join(folded, "\t"), nil
}

// tens holds the powers of ten that fit in 64 bits.
var tens = func() (list [mostDigits + 1]uint64) {
	list[0] = 1
	for i := range mostDigits {
		list[i+1] = 10 * list[i]
	}
	return list
}()

// padded formats a number with at least the given number of digits.
func padded(n uint64, digits int) string {
	var text [mostDigits + 1]byte
	at := len(text)
	for ; n > 0 || at > len(text)-max(1, digits); n /= 10 {
		at--
		text[at] = byte('0' + n%10)
	}
	return string(text[at:])
}

var errNoKeys = errors.New("its sequence is hidden, and there is no key ring: name one as key_ring: in the configuration")

// tweak makes each generator, and each of its periods and values, hide differently. Otherwise the first number of every day would
// be the same.
func tweak(name string, scope Scope) string {
	text := name + "\x00" + scope.Period
	if scope.Key != "" {
		text += "\x00" + scope.Key
	}
	return text
}
