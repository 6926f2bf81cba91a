package cipher

// StillTold describes what numbers hidden by a cipher still reveal. It is empty for ff1 and for unknown ciphers.
//
// The stream ciphers move a number within a window of consecutive ones. An observer who knows a dozen numbers of one gene can
// estimate, with an error of one window, how many numbers lie between the first and the last. This reveals the shop's volume.
func StillTold(cipher string) string {
	switch cipher {
	case "chacha20", "aes-ctr":
		return "how many orders there are: two numbers of one owner tell how many lie between them, to within a window (32,768 unless bits: says otherwise); ff1 hides that too"
	}
	return ""
}
