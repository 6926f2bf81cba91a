package format

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// tokens of time layouts, longest first, with Go's layouts.
var tokens = []struct{ token, layout string }{
	{"yyyy", "2006"}, {"SSS", "000"}, {"yy", "06"}, {"MM", "01"}, {"dd", "02"}, {"HH", "15"}, {"mm", "04"}, {"ss", "05"},
}

// zoned removes ",zone=+08:00" from a time layout. The default is UTC. The offset is fixed, because a zone with daylight
// saving time would repeat hours.
func zoned(argument string) (layout, spelled string, zone *time.Location, err error) {
	layout, spelled, found := strings.Cut(argument, ",zone=")
	if !found {
		return layout, "", time.UTC, nil
	}
	at, err := time.Parse("-07:00", spelled)
	if err != nil {
		return "", "", nil, fmt.Errorf("zone %q: write a fixed offset such as +08:00: clocks of a zone by name may go back, and repeat hours", spelled)
	}
	_, offset := at.Zone()
	if offset < -12*3600 || offset > 14*3600 {
		return "", "", nil, fmt.Errorf("zone %q: offsets go from -12:00 to +14:00", spelled)
	}
	return layout, spelled, time.FixedZone(spelled, offset), nil
}

// timeLiterals are the other characters of time layouts.
const timeLiterals = "-:._ "

// timeIn formats times by a layout of yyyy, yy, MM, dd, HH, mm, ss, SSS, '-', ':', '.', '_' and spaces, in a zone with a
// fixed offset.
func timeIn(layout string, zone *time.Location) (func(time.Time) string, error) {
	var pieces []func(time.Time) string
	for rest := layout; rest != ""; {
		found := false
		for _, t := range tokens {
			if after, ok := strings.CutPrefix(rest, t.token); ok {
				if t.token == "SSS" {
					pieces = append(pieces, func(at time.Time) string { return fmt.Sprintf("%03d", at.UnixMilli()%1000) })
				} else {
					pieces = append(pieces, func(at time.Time) string { return at.In(zone).Format(t.layout) })
				}
				rest, found = after, true
				break
			}
		}
		if !found && strings.ContainsRune(timeLiterals, rune(rest[0])) {
			literal := rest[:1]
			pieces = append(pieces, func(time.Time) string { return literal })
			rest, found = rest[1:], true
		}
		if !found {
			return nil, fmt.Errorf("layout %q: at %q: use yyyy, yy, MM, dd, HH, mm, ss, SSS and - : . _", layout, rest)
		}
	}
	if len(pieces) == 0 {
		return nil, errors.New("a layout of time is missing, such as yyyyMMdd")
	}
	return func(at time.Time) string {
		var b strings.Builder
		for _, p := range pieces {
			b.WriteString(p(at))
		}
		return b.String()
	}, nil
}

// timePart is {time:yyyyMMddHHmmssSSS} or {time:yyyyMMdd,zone=+08:00}.
func timePart(argument string) (Part, error) {
	layout, spelled, zone, err := zoned(argument)
	if err != nil {
		return Part{}, err
	}
	text, err := timeIn(layout, zone)
	if err != nil {
		return Part{}, err
	}
	return Part{
		Max: len(layout), Fixed: true, Scope: layout, Zone: spelled,
		Text: func(_ context.Context, v *Values) (string, error) { return text(v.Now), nil },
	}, nil
}

// contextPart returns the part {context:name:max}, a value from the caller of at most max bytes, or
// {context:name:max,exact}, a value of exactly max bytes.
func contextPart(argument string) (Part, error) {
	name, length, ok := strings.Cut(argument, ":")
	length, exact := strings.CutSuffix(length, ",exact")
	longest, err := strconv.Atoi(length)
	if !ok || name == "" || err != nil || longest < 1 || longest > 255 {
		return Part{}, fmt.Errorf("%q: write context:name:max or context:name:max,exact, max from 1 to 255 bytes", argument)
	}
	return Part{Max: longest, Fixed: exact, Text: func(_ context.Context, v *Values) (string, error) {
		value, given := v.Context[name]
		switch {
		case !given:
			return "", noValue(name)
		case len(value) > longest:
			return "", ValueError(fmt.Sprintf("the value of %q has %d bytes: at most %d fit", name, len(value), longest))
		case exact && len(value) < longest:
			return "", ValueError(fmt.Sprintf("the value of %q has %d bytes: it must have %d", name, len(value), longest))
		}
		return value, nil
	}}, nil
}

func noValue(name string) ValueError {
	return ValueError(fmt.Sprintf("no value for %q: give one", name))
}

// fold returns the key of the counter of a value. Values that a column can store as equal texts have one counter: those that
// differ only in case, or in spaces at the end. Other characters than printable ASCII can be equal to others, or to none.
func fold(name, value string) (string, error) {
	for _, c := range []byte(value) {
		if c < ' ' || c > '~' {
			return "", ValueError(fmt.Sprintf("the value of %q, for which numbers are counted, has a character that is not printable ASCII", name))
		}
	}
	key := strings.ToLower(strings.TrimRight(value, " "))
	if key == "" {
		return "", ValueError(fmt.Sprintf("the value of %q, for which numbers are counted, is empty", name))
	}
	return key, nil
}

// ValueError is about a value that the caller gives a template.
type ValueError string

func (e ValueError) Error() string { return string(e) }

// ErrFull means that a sequence exceeds its digits. It never wraps.
var ErrFull = errors.New("the template has no numbers left: give it more digits")

// genePart returns the part {gene}, the gene in hexadecimal at full width, or {gene:4}, which has the given
// number of digits.
func genePart(argument string) (Part, error) {
	p := Part{Max: 6, OfOwner: true, Fixed: argument != ""}
	if p.Fixed {
		digits, err := strconv.Atoi(argument)
		if err != nil || digits < 4 || digits > 6 {
			return Part{}, fmt.Errorf("%q: write gene, or gene:4 for genes of 14 to 16 bits, gene:6 for those of 23", argument)
		}
		p.Max = digits
	}
	p.Text = func(_ context.Context, v *Values) (string, error) {
		if v.Width == 0 {
			return "", errors.New("there is no owner to take the gene of: its texts are for stamped columns")
		}
		text := strings.TrimPrefix(v.Gene.Format(v.Width), "0x")
		if p.Fixed && len(text) != p.Max {
			return "", fmt.Errorf("a gene of %d bits has %d digits", v.Width, len(text))
		}
		return text, nil
	}
	return p, nil
}

// checkPart is {check:9,31,10}: sequence × 9 mod 31 mod 10.
func checkPart(argument string) (Part, error) {
	var numbers []uint64
	for word := range strings.SplitSeq(argument, ",") {
		n, err := strconv.ParseUint(word, 10, 32)
		if err != nil || n == 0 {
			return Part{}, fmt.Errorf("%q: write check:factor,modulus,… like check:9,31,10", argument)
		}
		numbers = append(numbers, n)
	}
	if len(numbers) < 2 {
		return Part{}, fmt.Errorf("%q: a factor and at least one modulus are needed", argument)
	}
	last := numbers[len(numbers)-1]
	return Part{
		Max: len(strconv.FormatUint(last-1, 10)), Fixed: last <= 10, Stage: Calculated,
		Text: func(_ context.Context, v *Values) (string, error) {
			// The first modulus is applied before multiplying, so that the product fits.
			n := v.Sequence % numbers[1] * (numbers[0] % numbers[1]) % numbers[1]
			for _, m := range numbers[2:] {
				n %= m
			}
			return strconv.FormatUint(n, 10), nil
		},
	}, nil
}
