package source

import (
	"bytes"
	"encoding/json"
)

// list reads a list in block style item by item. It reports false when the list must be read as a whole.
func (y *yamlReader) list(doc chunk, s outline) bool {
	text := y.text[doc.start:doc.end]
	items, end, ok := splitItems(text, s.items)
	if !ok || shares(text) && len(text) <= maxYAML {
		return false
	}
	env, ok := y.envelope(doc, s.items, end)
	if !ok {
		return true
	}
	line, at := doc.line+bytes.Count(text[:s.items], newline), s.items
	for i, item := range items {
		line, at = line+bytes.Count(text[at:item.start], newline), item.start
		items[i].line = line
	}
	whole := y.together(items, func(y *yamlReader, items []chunk) bool {
		whole := true
		for _, item := range items {
			if y.in.out.full() {
				return false
			}
			whole = y.item(doc, item, env.itemType()) && whole
		}
		return whole
	})
	if !y.in.out.full() {
		r := &jsonReader{out: y.in.out, lists: []*list{{env: env, indent: -1, broken: !whole}}}
		r.finish(r.top())
	}
	return true
}

// splitItems finds the items of the list below the `items:` line at an offset, and where the list ends.
// It is not ok when the lines below are not those of a block sequence of block mappings.
func splitItems(text []byte, at int) (items []chunk, end int, ok bool) {
	ok, end = true, len(text)
	indent, header := -1, true
	lines(text[at:], func(line []byte, start, _ int) bool {
		start += at
		if header {
			header = false
			return true
		}
		body := bytes.TrimLeft(line, " ")
		column := len(line) - len(body)
		if len(body) == 0 || body[0] == '#' && (indent < 0 || column <= indent) {
			return true
		}
		dash := body[0] == '-' && (len(body) == 1 || body[1] == ' ')
		if indent < 0 {
			indent = column
			ok = dash
		}
		switch {
		case !ok:
			return false
		case column > indent:
		case column == indent && dash:
			if n := len(items); n > 0 {
				items[n-1].end = start
			}
			items = append(items, chunk{start: start})
		case column == 0:
			end = start
			return false
		default:
			ok = false
			return false
		}
		return true
	})
	if n := len(items); n > 0 {
		items[n-1].end = end
	}
	return items, end, ok && len(items) > 0
}

// shares tells whether an alias of the text may stand for an anchor elsewhere in it. Text inside strings may
// look like an anchor, too; then the list is read as a whole, which gives the same objects, only slower.
func shares(text []byte) bool {
	anchors := tokensAfter(text, '&', nil)
	if len(anchors) == 0 {
		return false
	}
	return len(tokensAfter(text, '*', anchors)) > 0
}

// tokensAfter collects the words that follow a mark where a YAML value may begin, if among is nil or holds them.
func tokensAfter(text []byte, mark byte, among map[string]bool) map[string]bool {
	found := map[string]bool{}
	for i := 0; ; i++ {
		n := bytes.IndexByte(text[i:], mark)
		if n < 0 {
			return found
		}
		i += n
		before := bytes.TrimRight(text[:i], " ")
		if len(before) > 0 && !bytes.ContainsRune([]byte("\n:-[{,?"), rune(before[len(before)-1])) {
			continue
		}
		end := i + 1
		for end < len(text) && !bytes.ContainsRune([]byte(" \t\r\n,]}"), rune(text[end])) {
			end++
		}
		if word := string(text[i+1 : end]); word != "" && (among == nil || among[word]) {
			found[word] = true
		}
	}
}

// envelope reads a list without its items.
func (y *yamlReader) envelope(doc chunk, items, end int) (*object, bool) {
	text := y.text[doc.start:doc.end]
	rest := append(bytes.Clone(text[:items]), text[end:]...)
	out, err := toJSON(rest)
	if err != nil {
		line, reason := explain(err, rest)
		if line > bytes.Count(text[:items], newline) {
			line += bytes.Count(text[items:end], newline)
		}
		y.in.out.problem(doc.line+max(line-1, 0), reason+"; the list is not read")
		return nil, false
	}
	var env struct {
		APIVersion string   `json:"apiVersion"`
		Kind       string   `json:"kind"`
		Metadata   listMeta `json:"metadata"`
	}
	if json.Unmarshal(out, &env) != nil {
		y.in.out.problem(doc.line, "a list whose apiVersion, kind or metadata is not what it should be is not read")
		return nil, false
	}
	return &object{line: doc.line, typeMeta: typeMeta{env.APIVersion, env.Kind}, meta: env.Metadata}, true
}

// item reads one item of a list. It reports false when it could not be used.
func (y *yamlReader) item(doc, item chunk, stamp typeMeta) bool {
	text := y.text[doc.start+item.start : doc.start+item.end]
	dash := bytes.IndexByte(text, '-')
	after := bytes.TrimLeft(text[dash+1:], " ")
	if len(after) == 0 {
		return true
	}
	if s := outlineOf(text, len(text)-len(after)); s.plain && s.kind != "" && !isListKind(s.kind) {
		if s.apiVersion == "" {
			s.apiVersion = stamp.apiVersion
		}
		if s.apiVersion != "" && !y.in.out.want(s.typeMeta) {
			return true
		}
	}
	part := &yamlText{stretch: y.stretch(doc.start+item.start, doc.start+item.end, item.line), first: item.line,
		dash: true}
	return y.convert(part, part.mapping(text), stamp)
}
