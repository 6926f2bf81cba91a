package config

import (
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"locus/config/strict"
)

// Duration is a time.Duration in the form "5s" in YAML.
type Duration time.Duration

// Std returns the duration as the standard library's type.
func (d Duration) Std() time.Duration { return time.Duration(d) }

func (d Duration) String() string { return time.Duration(d).String() }

// UnmarshalYAML refuses a number without a unit, which would be ambiguous.
func (d *Duration) UnmarshalYAML(node *yaml.Node) error {
	v, err := time.ParseDuration(node.Value)
	if err != nil || node.Kind != yaml.ScalarNode || node.Value == "0" {
		return strict.AtLine(node, "%q isn't a duration: write a number and a unit, such as 500ms, 5s, 10m or 8h", node.Value)
	}
	*d = Duration(v)
	return nil
}

// MarshalYAML writes the form that UnmarshalYAML reads.
func (d Duration) MarshalYAML() (any, error) { return d.String(), nil }

// Size is a number of bytes in the form "16MiB" in YAML (or KiB, GiB, or a plain number of bytes).
type Size int64

var sizeUnits = []struct {
	suffix string
	bytes  int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// ParseSize reads the form of [Size]. It refuses fractions and decimal units (MB).
func ParseSize(s string) (Size, error) {
	digits, unit := s, int64(1)
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(s, u.suffix); ok {
			digits, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || n > math.MaxInt64/uint64(unit) {
		return 0, fmt.Errorf("%q isn't a size: write a whole number of bytes, or one with KiB, MiB or GiB", s)
	}
	return Size(int64(n) * unit), nil
}

func (s Size) String() string {
	for _, u := range sizeUnits[:3] {
		if s != 0 && int64(s)%u.bytes == 0 {
			return strconv.FormatInt(int64(s)/u.bytes, 10) + u.suffix
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// UnmarshalYAML reads the form of [ParseSize].
func (s *Size) UnmarshalYAML(node *yaml.Node) error {
	v, err := ParseSize(node.Value)
	if err != nil {
		return strict.AtLine(node, "%s", err)
	}
	*s = v
	return nil
}

// MarshalYAML writes the form that UnmarshalYAML reads.
func (s Size) MarshalYAML() (any, error) { return s.String(), nil }

// Transactions is the mode of transactions that reach a second shard.
type Transactions string

const (
	Single Transactions = "single" // refused
	Multi  Transactions = "multi"  // committed shard by shard
	XA     Transactions = "xa"     // committed in two phases
)

// LogFormat is the form of log lines.
type LogFormat string

const (
	Text LogFormat = "text"
	JSON LogFormat = "json"
)

// LogLevel is the least important level that is logged.
type LogLevel string

const (
	Debug LogLevel = "debug"
	Info  LogLevel = "info"
	Warn  LogLevel = "warn"
	Error LogLevel = "error"
)

var slogLevels = map[LogLevel]slog.Level{
	Debug: slog.LevelDebug, Info: slog.LevelInfo, Warn: slog.LevelWarn, Error: slog.LevelError,
}

// Slog returns a valid level as the standard library's type.
func (l LogLevel) Slog() slog.Level { return slogLevels[l] }
