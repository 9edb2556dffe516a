package source

import "bytes"

// yamlReader splits YAML text into documents, and the lists that kubectl prints into their items,
// without parsing it: only what is wanted is parsed, one object at a time.
type yamlReader struct {
	in   *input
	text []byte
	// base and line are the absolute offset and line of the text's first byte.
	base int64
	line int
}

// readYAML reads the rest of the input as YAML documents.
func (in *input) readYAML(w *window) {
	base, line := w.offset(), w.line(w.pos)
	text, ok := in.rest(w)
	if !ok {
		return
	}
	if s, ok := in.out.sink.(TextSink); ok {
		s.Text(in.name, line, text)
	}
	y := &yamlReader{in: in, text: text, base: base, line: line}
	if in.backing == nil {
		in.backing, y.base = heldBytes(text), 0
	}
	var docs []chunk
	for doc := (chunk{end: 0, line: line}); y.nextDocument(&doc) && !in.out.full(); {
		if docs = append(docs, doc); doc.end-docs[0].start >= batchesSize || len(docs) == maxDocuments {
			y.documents(docs)
			docs = docs[:0]
		}
	}
	y.documents(docs)
}

// chunk is a part of the text that begins at the start of a line.
type chunk struct{ start, end, line int }

// lines calls f with each line of text, without its line break, until f returns false.
func lines(text []byte, f func(line []byte, start, end int) bool) {
	for start := 0; start < len(text); {
		end := len(text)
		if n := bytes.IndexByte(text[start:], '\n'); n >= 0 {
			end = start + n + 1
		}
		if !f(bytes.TrimRight(text[start:end], "\r\n"), start, end) {
			return
		}
		start = end
	}
}

// nextDocument moves doc to the next document. A document begins at its `---` line, if it has one.
func (y *yamlReader) nextDocument(doc *chunk) bool {
	doc.line += bytes.Count(y.text[doc.start:doc.end], newline)
	doc.start = doc.end
	if doc.start >= len(y.text) {
		return false
	}
	doc.end = len(y.text)
	begun := false // something other than directives and comments was seen
	lines(y.text[doc.start:], func(line []byte, start, end int) bool {
		switch {
		case isMarker(line, "---"):
			if begun {
				doc.end = doc.start + start
				return false
			}
			begun = true
		case isMarker(line, "..."):
			doc.end = doc.start + end
			return false
		case len(line) > 0 && line[0] != '%' && !isBlank(line):
			begun = true
		}
		return true
	})
	return true
}

// isMarker tells whether a line begins with a document marker.
func isMarker(line []byte, marker string) bool {
	return len(line) >= 3 && string(line[:3]) == marker && (len(line) == 3 || line[3] == ' ' || line[3] == '\t')
}

// isBlank tells whether a line is empty or a comment.
func isBlank(line []byte) bool {
	line = bytes.TrimLeft(line, " \t")
	return len(line) == 0 || line[0] == '#'
}

// document reads one document.
func (y *yamlReader) document(doc chunk) {
	text := y.text[doc.start:doc.end]
	first, jump := firstContent(text)
	if first < 0 {
		return
	}
	line := doc.line + jump
	if looksLikeJSON(windowOn(text[first:], 0, 1)) && y.json(doc.start+first, doc.end, line) {
		return
	}
	s := outlineOf(text, first)
	if s.plain && isListKind(s.kind) && s.items >= 0 {
		if y.list(doc, s) {
			return
		}
	}
	if s.plain && s.apiVersion != "" && s.kind != "" && !isListKind(s.kind) && !y.in.out.want(s.typeMeta) {
		return
	}
	part := &yamlText{stretch: y.stretch(doc.start, doc.end, doc.line), first: line}
	y.convert(part, text, typeMeta{})
}

func (y *yamlReader) stretch(start, end, line int) stretch {
	return stretch{places: y.in.places, from: y.in.backing, start: y.base + int64(start), end: y.base + int64(end),
		line: line, column: 1}
}

// firstContent is the offset of a document's first content, and how many lines down it is; -1: it has none.
func firstContent(text []byte) (first, jump int) {
	first = -1
	lines(text, func(line []byte, start, _ int) bool {
		if isMarker(line, "---") {
			if isBlank(line[3:]) {
				jump++
				return true
			}
			start, line = start+3, line[3:]
		}
		if isBlank(line) || line[0] == '%' || isMarker(line, "...") {
			jump++
			return true
		}
		first = start + len(line) - len(bytes.TrimLeft(line, " \t"))
		return false
	})
	return first, jump
}

// json reads a document that is JSON, such as JSON behind a `---` line. It reports false when it is not.
func (y *yamlReader) json(start, end, line int) bool {
	text := bytes.TrimRight(y.text[start:end], " \t\r\n")
	if cut, ok := bytes.CutSuffix(text, []byte("\n...")); ok {
		text = cut
	}
	check := windowOn(text, 0, 1)
	if check.skipValue() != nil || check.pos != len(text) {
		return false
	}
	w := windowOn(text, y.base+int64(start), line)
	w.lineStart = y.base + int64(bytes.LastIndexByte(y.text[:start], '\n')+1)
	(&jsonReader{w: w, out: y.in.out, place: y.in}).read()
	return true
}

// outline is what a scan of a document's lines tells: the keys at column 0.
type outline struct {
	typeMeta
	// plain tells that the scan can be trusted: block style, each key once, simple values.
	plain bool
	// items is the offset of an `items:` line whose value stands on the lines below, -1 without one.
	items int
}

// outlineOf scans the lines of a block mapping whose keys are all at the column of its first key.
func outlineOf(text []byte, first int) outline {
	s := outline{plain: true, items: -1}
	column := first - (bytes.LastIndexByte(text[:first], '\n') + 1)
	kinds, versions, itemses := 0, 0, 0
	lines(text[first-column:], func(line []byte, start, _ int) bool {
		if len(line) <= column {
			return true
		}
		if start == 0 {
			// What stands before the first key, such as "- ", is not part of it.
		} else if column > 0 && len(bytes.TrimLeft(line[:column], " ")) > 0 {
			return true
		}
		key := line[column:]
		switch key[0] {
		case 'k':
			if value, ok := bytes.CutPrefix(key, []byte("kind:")); ok {
				kinds++
				s.kind, ok = simpleValue(value)
				s.plain = s.plain && ok
			}
		case 'a':
			if value, ok := bytes.CutPrefix(key, []byte("apiVersion:")); ok {
				versions++
				s.apiVersion, ok = simpleValue(value)
				s.plain = s.plain && ok
			}
		case 'i':
			if value, ok := bytes.CutPrefix(key, []byte("items:")); ok {
				itemses++
				if isBlank(value) {
					s.items = first - column + start
				}
			}
		case '"', '\'', '{', '[', '?', '&', '*', '!', '|', '>', '<', '\t':
			// Quoted keys, flow style, merges: too much for a scan.
			s.plain = false
		}
		return true
	})
	s.plain = s.plain && kinds <= 1 && versions <= 1 && itemses <= 1
	return s
}

// simpleValue is the value of a key when it is a plain word, perhaps in quotes.
func simpleValue(text []byte) (string, bool) {
	if len(text) == 0 || text[0] != ' ' {
		return "", false
	}
	word := bytes.Trim(text, " \t")
	if n := len(word); n >= 2 && (word[0] == '"' || word[0] == '\'') && word[n-1] == word[0] {
		word = word[1 : n-1]
	}
	if len(word) == 0 {
		return "", false
	}
	for _, c := range word {
		if c|0x20 < 'a' || c|0x20 > 'z' {
			if (c < '0' || c > '9') && c != '.' && c != '-' && c != '/' {
				return "", false
			}
		}
	}
	return string(word), true
}
