# Runs cases, and writes what became of each to the file that SUITE_REPORT names, a line each.
require 'bigdecimal'
require 'date'
require 'json'
require 'time'

DATABASE = ENV.fetch('SUITE_DATABASE')
ENDPOINT = { host: ENV.fetch('SUITE_HOST'), port: ENV.fetch('SUITE_PORT').to_i, user: ENV.fetch('SUITE_USER'), password: ENV.fetch('SUITE_PASSWORD') }.freeze
ENGINE = ENV.fetch('SUITE_ENGINE')
REPORT = File.open(ENV.fetch('SUITE_REPORT'), 'w')
REPORT.sync = true

# plain makes JSON of a value, and keeps the types that JSON lacks apart.
def plain(value)
  case value
  when Hash then value.to_h { |k, v| [k.to_s, plain(v)] }
  when Array then value.map { |v| plain(v) }
  when BigDecimal then ['decimal', value.to_s('F')]
  when Time, DateTime, Date then [value.class.name, value.iso8601(*(value.is_a?(Date) && !value.is_a?(DateTime) ? [] : [3]))]
  when String then value.encoding == Encoding::BINARY && !value.valid_encoding? || value.dup.force_encoding('UTF-8').valid_encoding? == false ? ['bytes', value.unpack1('H*')] : value.dup.force_encoding('UTF-8')
  when Symbol then value.to_s
  when nil, true, false, Integer, Float then value
  else value.to_s
  end
end

def say(state, name, detail)
  REPORT.puts [state, name, detail.gsub('\\') { '\\\\' }.gsub("\n") { '\\n' }.tr("\t", ' ')].join("\t")
end

# test runs a case. Its result is what the block returns.
def test(name)
  return if ARGV.any? && !ARGV.include?(name)

  say 'passed', name, JSON.generate(plain(yield))
rescue StandardError => e
  say 'failed', name, "#{e.class}: #{e.message} (#{e.backtrace.find { |line| line.include?('/test/suites/') }})"
end

# refused is the error of a block that must fail.
def refused
  value = yield
rescue StandardError => e
  [e.class.name, e.message]
else
  raise "no error, but #{value.inspect}"
end

def equal(got, want)
  raise "#{got.inspect}, want #{want.inspect}" unless got == want
end

at_exit { say 'passed', 'end', '' unless $! && !$!.is_a?(SystemExit) }
