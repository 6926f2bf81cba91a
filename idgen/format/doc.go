// Package format generates strings from a template:
//
//	{time:yyyyMMdd}{seq:5,per=yyyyMMdd}       2017030400001
//	{context:area:3}-{context:branch:4}-{seq:5}   010-6541-00001
//	QJ{seq:6}                                 QJ000001
//	SN-{seq}-{check:9,31,10}                  SN-7-1
//	SN-{seq}-{calc:seq * 9 % 31 % 10}         SN-7-1
//	{time:yyMMddHHmmssSSS}{context:shop:4}{seq:8,per=yyMMddHHmm}
//	{time:yyMMddHHmmssSSS}{context:shop:4}{seq:8,per=yyMMddHHmm,hidden=1}   the same, its volume hidden
//
// It owns the templates, the built-in parts and the order in which parts are generated. It never generates a number;
// sequences come from a generator. It never truncates a value; a value that doesn't fit is an error.
//
// A part is a Go function that a Registry knows by name. Parts are generated in the order of their stages, so that a
// checksum can use a sequence to its right. They are joined in the order of the template.
//
// The longest string is known in advance; see Template.Max.
package format
