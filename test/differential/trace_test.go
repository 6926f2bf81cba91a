package differential

import "os"

func trace(s string) {
	if f, err := os.OpenFile("/tmp/h11-trace", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err == nil {
		_, _ = f.WriteString(s + "\n")
		_ = f.Close()
	}
}
