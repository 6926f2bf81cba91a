package orderid

import "strconv"

// Modulus is the divisor of sequence numbers if the rows of one gene are on two shards. The remainder determines the
// shard.
const Modulus = 100

// Residue is the remainder of a division by [Modulus]: 0 to 99.
type Residue uint8

// ofHi is the remainder of 2^64.
const ofHi = 1 << 64 % Modulus

// Residue returns the residue of a sequence number. Consecutive sequence numbers have all residues in turn.
func (s Sequence) Residue() Residue {
	return Residue((s.Hi%Modulus*ofHi + s.Lo%Modulus) % Modulus)
}

// Residue returns the residue of an ID's stored sequence number, even if that is hidden.
func (l Layout) Residue(id ID) Residue { return l.Sequence(id).Residue() }

// ResidueSQL returns an SQL expression for the residue of an ID, given as an integer expression of either sign. It is
// NULL for NULL.
func (l Layout) ResidueSQL(integer string) string {
	return "(" + integer + " & " + decimal(l.maxSequence.Lo) + ") % " + decimal(Modulus)
}

// ResidueOfBytesSQL is ResidueSQL for an ID given as an expression of bytes, of the layout's length.
func (l Layout) ResidueOfBytesSQL(bytes string) string {
	if l.bytes == 8 {
		return l.ResidueSQL(number(bytes))
	}
	const topBytes = 4 // the last bytes of the upper word; they contain the top of the sequence number, and other bits
	hi := number("SUBSTRING(" + bytes + ", " + decimal(9-topBytes) + ", " + decimal(topBytes) + ")")
	lo := number("SUBSTRING(" + bytes + ", 9)")
	return "((" + hi + " & " + decimal(l.maxSequence.Hi) + ") * " + decimal(ofHi) + " + " + lo + " % " + decimal(Modulus) + ") % " + decimal(Modulus)
}

// number returns bytes, at most eight, as an unsigned integer expression.
func number(bytes string) string { return "CAST(CONV(HEX(" + bytes + "), 16, 10) AS UNSIGNED)" }

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }
