package cipher

// StillTold says what numbers that a cipher hides tell all the same; it is empty for ff1, and for what is no cipher.
//
// The stream ciphers move a number within a window of consecutive ones: who has a dozen numbers of one gene knows how many lie
// between the first and the last to within a window, and so the shop's volume.
func StillTold(cipher string) string {
	switch cipher {
	case "chacha20", "aes-ctr":
		return "how many orders there are: two numbers of one owner tell how many lie between them, to within a window (32,768 unless bits: says otherwise); ff1 hides that too"
	}
	return ""
}
