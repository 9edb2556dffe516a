package source

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"strings"
)

// maxDepth is the deepest nesting read. encoding/json stops there too.
const maxDepth = 10000

// errEnd means that the input ends inside a value.
var errEnd = errors.New("the input ends in the middle of the object")

// syntaxError is broken JSON; pos of the window stands at it.
type syntaxError struct{ reason string }

func (e *syntaxError) Error() string { return e.reason }

func syntaxf(format string, args ...any) error {
	return &syntaxError{"invalid JSON: " + fmt.Sprintf(format, args...)}
}

// unexpected is the syntax error for a byte that cannot stand at pos.
func (w *window) unexpected(want string) error {
	return syntaxf("expected %s, found %s", want, describe(w.buf[w.pos]))
}

func describe(c byte) string {
	switch {
	case c == '\n' || c == '\r':
		return "the end of the line"
	case c == 0:
		return "a NUL byte"
	case c < ' ' || c >= 0x7f:
		return fmt.Sprintf("byte 0x%02x", c)
	}
	return "'" + string(rune(c)) + "'"
}

// next skips white space and returns the byte at pos, or false at the end of the input.
func (w *window) next() (byte, bool) {
	for {
		for w.pos < len(w.buf) {
			c := w.buf[w.pos]
			if c > ' ' || !isSpace(c) {
				return c, true
			}
			w.pos++
		}
		if !w.fill() {
			return 0, false
		}
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// state is what may come next inside a value.
type state uint8

const (
	refused  state = iota
	value          // the value that is skipped
	firstKey       // after '{'
	key            // after ',' in an object
	colon
	member // after ':'
	memberEnd
	firstItem // after '['
	item      // after ',' in a list
	itemEnd
	states
)

// stateNames tell in an error what was expected.
var stateNames = [states]string{
	value: "a value", firstKey: "a quoted key or '}'", key: "a quoted key", colon: "':'", member: "a value",
	memberEnd: "',' or '}'", firstItem: "a value or ']'", item: "a value", itemEnd: "',' or ']'",
}

// class is what a byte begins.
type class uint8

const (
	word class = iota // a number, true, false, null, or nonsense
	quote
	comma
	colonMark
	openBrace
	openBracket
	closeBrace
	closeBracket
	classes
)

var classOf = [256]class{'"': quote, ',': comma, ':': colonMark, '{': openBrace, '[': openBracket, '}': closeBrace,
	']': closeBracket}

// after is the state behind a token, for tokens that may stand in a state. Behind a closing bracket it depends
// on what is around the container: the table says memberEnd only to allow it.
var after = [states][classes]state{
	value:     {word: value, quote: value, openBrace: firstKey, openBracket: firstItem},
	firstKey:  {quote: colon, closeBrace: memberEnd},
	key:       {quote: colon},
	colon:     {colonMark: member},
	member:    {word: memberEnd, quote: memberEnd, openBrace: firstKey, openBracket: firstItem},
	memberEnd: {comma: key, closeBrace: memberEnd},
	firstItem: {word: itemEnd, quote: itemEnd, openBrace: firstKey, openBracket: firstItem, closeBracket: memberEnd},
	item:      {word: itemEnd, quote: itemEnd, openBrace: firstKey, openBracket: firstItem},
	itemEnd:   {comma: item, closeBracket: memberEnd},
}

// nesting remembers which open containers stand in an object, one bit each.
type nesting [maxDepth/64 + 1]uint64

func (n *nesting) set(depth int, inObject bool) {
	bit := uint64(1) << (depth & 63)
	if inObject {
		n[depth>>6] |= bit
	} else {
		n[depth>>6] &^= bit
	}
}

func (n *nesting) inObject(depth int) bool { return n[depth>>6]>>(depth&63)&1 != 0 }

// skipValue moves pos behind the JSON value at pos and checks that it is well-formed.
// It does not recurse. After an error pos stands at the offending byte.
func (w *window) skipValue() error {
	depth, at := 0, value
	b, i := w.buf, w.pos
	for {
		if i = skipSpaces(b, i); i == len(b) {
			if w.pos = i; !w.fill() {
				return errEnd
			}
			b, i = w.buf, w.pos
			continue
		}
		token := classOf[b[i]]
		next := after[at][token]
		if next == refused {
			w.pos = i
			return w.unexpected(stateNames[at])
		}
		switch token {
		case quote:
			if end := plainString(b, i+1); end < len(b) && b[end] == '"' {
				i = end + 1
				break
			}
			fallthrough
		case word:
			w.pos = i
			if err := w.skipScalar(token); err != nil {
				return err
			}
			b, i = w.buf, w.pos
		case openBrace, openBracket:
			if depth == maxDepth {
				w.pos = i
				return &syntaxError{fmt.Sprintf("nested deeper than %d levels", maxDepth)}
			}
			w.open.set(depth, at == member)
			depth++
			i++
		case closeBrace, closeBracket:
			i++
			if depth--; !w.open.inObject(depth) {
				next = itemEnd
			}
		default:
			i++
		}
		if depth == 0 {
			w.pos = i
			return nil
		}
		if next == colon && i < len(b) && b[i] == ':' {
			i++
			next = member
		}
		at = next
	}
}

const (
	ones        = 0x0101010101010101
	highs       = 0x8080808080808080
	eightSpaces = ' ' * ones
)

// skipSpaces returns the index of the first byte from i on that is not white space. Indentation comes in runs.
func skipSpaces(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
		for i+8 <= len(b) && binary.LittleEndian.Uint64(b[i:]) == eightSpaces {
			i += 8
		}
	}
	return i
}

func (w *window) skipScalar(token class) error {
	if token == quote {
		return w.skipString()
	}
	return w.skipWord()
}

// plainString returns the index of the first byte from i on that is a quote, a backslash or a
// control character: eight bytes at a time, by the usual test for a zero byte in a word.
func plainString(b []byte, i int) int {
	for i+8 <= len(b) {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, slash := x^('"'*ones), x^('\\'*ones)
		if m := ((quote-ones)&^quote | (slash-ones)&^slash | (x-' '*ones)&^x) & highs; m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
		i += 8
	}
	for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= ' ' {
		i++
	}
	return i
}

// skipString moves pos behind the string whose opening quote is at pos.
func (w *window) skipString() error {
	w.pos++
	for {
		w.pos = plainString(w.buf, w.pos)
		if w.pos == len(w.buf) {
			if !w.fill() {
				return errEnd
			}
			continue
		}
		switch c := w.buf[w.pos]; c {
		case '"':
			w.pos++
			return nil
		case '\\':
			if err := w.skipEscape(); err != nil {
				return err
			}
		case '\n', '\r':
			return syntaxf("a string has no closing quote on its line")
		default:
			return syntaxf("a string holds %s, which must be escaped", describe(c))
		}
	}
}

func (w *window) skipEscape() error {
	if !w.have(2) {
		return errEnd
	}
	switch c := w.buf[w.pos+1]; c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		w.pos += 2
		return nil
	case 'u':
		if !w.have(6) {
			return errEnd
		}
		for _, h := range w.buf[w.pos+2 : w.pos+6] {
			if !isHex(h) {
				return syntaxf("\\u needs four hexadecimal digits")
			}
		}
		w.pos += 6
		return nil
	default:
		return syntaxf("a string holds the unknown escape \\%s", strings.Trim(describe(c), "'"))
	}
}

// readString moves pos behind the string at pos and returns its text. The bytes are good until the
// window is filled again. A string too long to be kept reads as nil.
func (w *window) readString() ([]byte, error) {
	start, kept := w.offset()+1, w.keep >= 0
	if !kept {
		w.keep = w.pos
	}
	err := w.skipString()
	if !kept {
		w.keep, w.lost = -1, false
	}
	if err != nil || start <= w.base {
		return nil, err
	}
	raw := w.buf[start-w.base : w.pos-1]
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw, nil
	}
	var text string
	if json.Unmarshal(w.buf[start-w.base-1:w.pos], &text) != nil {
		return nil, nil
	}
	return []byte(text), nil
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

// maxWord bounds a number, so that one cannot fill the memory.
const maxWord = 4096

// skipWord moves pos behind the number, true, false or null at pos.
func (w *window) skipWord() error {
	n := 0
	for n < maxWord {
		if w.pos+n == len(w.buf) && !w.fill() {
			break
		}
		c := w.buf[w.pos+n]
		if isSpace(c) || c == ',' || c == '}' || c == ']' || c == ':' || c == '"' || c == '{' || c == '[' {
			break
		}
		n++
	}
	word := w.buf[w.pos : w.pos+n]
	switch {
	case n == maxWord:
		return syntaxf("a number of more than %d digits", maxWord)
	case string(word) == "true", string(word) == "false", string(word) == "null", isNumber(word):
		w.pos += n
		return nil
	case n == 0:
		return w.unexpected("a value")
	}
	if len(word) > 20 {
		word = word[:20]
	}
	return syntaxf("expected a value, found %q", word)
}

// isNumber tells whether text is a number as RFC 8259 writes it.
func isNumber(text []byte) bool {
	if len(text) > 0 && text[0] == '-' {
		text = text[1:]
	}
	n := leadingDigits(text)
	if n == 0 || n > 1 && text[0] == '0' {
		return false
	}
	text = text[n:]
	if len(text) > 0 && text[0] == '.' {
		if n = leadingDigits(text[1:]); n == 0 {
			return false
		}
		text = text[1+n:]
	}
	if len(text) > 0 && text[0]|0x20 == 'e' {
		text = text[1:]
		if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
			text = text[1:]
		}
		if n = leadingDigits(text); n == 0 {
			return false
		}
		text = text[n:]
	}
	return len(text) == 0
}

func leadingDigits(text []byte) int {
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	return n
}
