package orderid

import "strconv"

// Modulus is what sequences are divided by where the rows of one gene are on two
// shards: what is left says on which.
const Modulus = 100

// Residue is what a division by [Modulus] leaves: 0 to 99.
type Residue uint8

// ofHi is what a division of 2^64 leaves.
const ofHi = 1 << 64 % Modulus

// Residue is that of the sequence. Consecutive sequences have all residues in turn.
func (s Sequence) Residue() Residue {
	return Residue((s.Hi%Modulus*ofHi + s.Lo%Modulus) % Modulus)
}

// Residue is that of the sequence of an ID of this layout as it stands there: of a
// hidden one, the hidden sequence counts.
func (l Layout) Residue(id ID) Residue { return l.Sequence(id).Residue() }

// ResidueSQL has a server compute the residue of an ID, which an expression gives as
// an integer of either sign. It is NULL where that is.
func (l Layout) ResidueSQL(integer string) string {
	return "(" + integer + " & " + decimal(l.maxSequence.Lo) + ") % " + decimal(Modulus)
}

// ResidueOfBytesSQL is ResidueSQL of an ID that an expression gives as bytes, as many as
// the layout's IDs have.
func (l Layout) ResidueOfBytesSQL(bytes string) string {
	if l.bytes == 8 {
		return l.ResidueSQL(number(bytes))
	}
	const topBytes = 4 // those in the upper word that hold the top of the sequence, and more
	hi := number("SUBSTRING(" + bytes + ", " + decimal(9-topBytes) + ", " + decimal(topBytes) + ")")
	lo := number("SUBSTRING(" + bytes + ", 9)")
	return "((" + hi + " & " + decimal(l.maxSequence.Hi) + ") * " + decimal(ofHi) + " + " + lo + " % " + decimal(Modulus) + ") % " + decimal(Modulus)
}

// number is bytes, of which there are eight at most, as an unsigned integer.
func number(bytes string) string { return "CAST(CONV(HEX(" + bytes + "), 16, 10) AS UNSIGNED)" }

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }
