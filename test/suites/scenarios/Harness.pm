package Harness;

# Runs cases, and writes what became of each to the file that SUITE_REPORT names, a line each.
use strict;
use warnings;
use utf8;
use Exporter 'import';
use JSON::PP ();

our @EXPORT = qw(test refused equal finish dsn);

my $json = JSON::PP->new->canonical->allow_nonref->allow_blessed->convert_blessed;
open my $report, '>:encoding(UTF-8)', $ENV{SUITE_REPORT} or die "$ENV{SUITE_REPORT}: $!";
$report->autoflush;

sub dsn {
	return ("dbi:mysql:database=$ENV{SUITE_DATABASE};host=$ENV{SUITE_HOST};port=$ENV{SUITE_PORT}", $ENV{SUITE_USER}, $ENV{SUITE_PASSWORD});
}

sub say_line {
	my ($state, $name, $detail) = @_;
	$detail =~ s/\\/\\\\/g;
	$detail =~ s/\n/\\n/g;
	$detail =~ s/\t/ /g;
	print $report "$state\t$name\t$detail\n";
}

# plain makes texts of all values: Perl may keep a number as a text.
sub plain {
	my ($value) = @_;
	return [map { plain($_) } @$value] if ref $value eq 'ARRAY';
	return {map { $_ => plain($value->{$_}) } keys %$value} if ref $value eq 'HASH';
	return defined $value ? "$value" : undef;
}

# test runs a case. Its result is what the function returns, a list.
sub test {
	my ($name, $run) = @_;
	return if @ARGV && !grep { $_ eq $name } @ARGV;
	my @result;
	if (eval { @result = $run->(); 1 }) {
		say_line('passed', $name, $json->encode(plain(\@result)));
	} else {
		say_line('failed', $name, "$@");
	}
}

# refused is the error of a function that must fail, without the place in the program.
sub refused {
	my ($run) = @_;
	my @value;
	die 'no error, but ' . $json->encode(plain(\@value)) if eval { @value = $run->(); 1 };
	my $error = "$@";
	$error =~ s/ at \S+ line \d+.*//s;
	$error =~ s/^DBIx::Class::\S+: //;
	return $error;
}

sub equal {
	my ($got, $want) = map { $json->encode(plain($_)) } @_;
	die "$got, want $want" if $got ne $want;
}

# finish follows the last case.
sub finish { say_line('passed', 'end', '') }

1;
