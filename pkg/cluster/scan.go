package cluster

import "bytes"

// members calls f with the key and the value of each member of a JSON object, in order, until f returns false. It
// returns false when f did, and for text that it does not follow: what is not an object, or broken, and keys with
// escapes. Values are not checked: text is that of a document, which was, or is decoded by a decoder that does.
func members(text []byte, f func(key, value []byte) bool) bool {
	i := skipBlanks(text, 0)
	if i >= len(text) || text[i] != '{' {
		return false
	}
	if i = skipBlanks(text, i+1); i < len(text) && text[i] == '}' {
		return true
	}
	for {
		if i >= len(text) || text[i] != '"' {
			return false
		}
		end := stringEnd(text, i)
		if end < 0 {
			return false
		}
		key := text[i+1 : end-1]
		if i = skipBlanks(text, end); i >= len(text) || text[i] != ':' || bytes.IndexByte(key, '\\') >= 0 {
			return false
		}
		i = skipBlanks(text, i+1)
		if end = valueEnd(text, i); end < 0 || !f(key, text[i:end]) {
			return false
		}
		if i = skipBlanks(text, end); i >= len(text) || text[i] != ',' {
			return i < len(text) && text[i] == '}'
		}
		i = skipBlanks(text, i+1)
	}
}

// elements calls f with each element of a JSON array, as members does.
func elements(text []byte, f func(value []byte) bool) bool {
	i := skipBlanks(text, 0)
	if i >= len(text) || text[i] != '[' {
		return false
	}
	if i = skipBlanks(text, i+1); i < len(text) && text[i] == ']' {
		return true
	}
	for {
		end := valueEnd(text, i)
		if end < 0 || !f(text[i:end]) {
			return false
		}
		if i = skipBlanks(text, end); i >= len(text) || text[i] != ',' {
			return i < len(text) && text[i] == ']'
		}
		i = skipBlanks(text, i+1)
	}
}

// plainString is the text of a JSON string without escapes.
func plainString(value []byte) ([]byte, bool) {
	n := len(value)
	if n < 2 || value[0] != '"' || value[n-1] != '"' {
		return nil, false
	}
	text := value[1 : n-1]
	return text, bytes.IndexByte(text, '\\') < 0
}

func skipBlanks(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\r' || text[i] == '\t') {
		i++
	}
	return i
}

// stringEnd is the index behind the string that begins at i, -1 when it does not end.
func stringEnd(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return -1
}

// valueEnd is the index behind the value that begins at i, -1 when it does not end.
func valueEnd(text []byte, i int) int {
	if i >= len(text) {
		return -1
	}
	switch text[i] {
	case '"':
		return stringEnd(text, i)
	case '{', '[':
		return containerEnd(text, i)
	}
	start := i
	for i < len(text) && !isEnd[text[i]] {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

// isEnd are the bytes that end a number, true, false or null.
var isEnd = [256]bool{',': true, '}': true, ']': true, ' ': true, '\n': true, '\r': true, '\t': true, ':': true,
	'"': true, '{': true, '[': true}

// containerEnd is the index behind the object or array that begins at i.
func containerEnd(text []byte, i int) int {
	depth := 0
	for ; i < len(text); i++ {
		switch text[i] {
		case '"':
			if i = stringEnd(text, i) - 1; i < 0 {
				return -1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// member is the value of the only member of an object with a key.
func member(text []byte, name string) (found []byte, ok bool) {
	ok = members(text, func(key, value []byte) bool {
		if string(key) != name {
			return true
		}
		again := found != nil
		found = value
		return !again
	})
	return found, ok && found != nil
}

// offset is where a part of a text stands in it.
func offset(text, part []byte) int { return cap(text) - cap(part) }
