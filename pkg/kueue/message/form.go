package message

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Code names what a message says. Codes are not part of any output.
type Code string

// Message is a code with the values of its fields, in the order of the form.
type Message struct {
	Code   Code
	values []string
}

// Of is the message of a code with the values of its fields, in the order of the form.
func Of(code Code, values ...string) Message { return Message{code, values} }

// Text is what Kueue writes.
func (m Message) Text() string {
	f := forms()[m.Code]
	if f == nil {
		return ""
	}
	var out strings.Builder
	for i, fixed := range f.fixed {
		out.WriteString(fixed)
		if i < len(m.values) {
			out.WriteString(m.values[i])
		}
	}
	return out.String()
}

// Field is the value of a field; empty when the message has none of that name.
func (m Message) Field(name string) string {
	if f := forms()[m.Code]; f != nil {
		if i := slices.Index(f.names, name); i >= 0 && i < len(m.values) {
			return m.values[i]
		}
	}
	return ""
}

// Is tells that the message has one of the codes.
func (m Message) Is(codes ...Code) bool { return slices.Contains(codes, m.Code) }

// form is how a message reads. In text and means, {name} stands for a field: a word, or in the text what a pattern
// after a colon matches.
type form struct {
	code        Code
	text, means string
}

// readForm is a form ready for use. Fixed are the parts of the text around its fields. The pattern is of the text
// alone: the tables say whether it is a whole message.
type readForm struct {
	form
	fixed   []string
	names   []string
	pattern string
}

var placeholder = regexp.MustCompile(`\{(\w+)(?::([^{}]*))?\}`)

func read(f form) *readForm {
	out := &readForm{form: f}
	at := 0
	for _, m := range placeholder.FindAllStringSubmatchIndex(f.text, -1) {
		out.fixed = append(out.fixed, f.text[at:m[0]])
		out.pattern += regexp.QuoteMeta(f.text[at:m[0]])
		at = m[1]
		out.names = append(out.names, f.text[m[2]:m[3]])
		value := `\S+`
		if m[4] >= 0 {
			value = f.text[m[4]:m[5]]
		}
		out.pattern += "(" + value + ")"
	}
	out.fixed = append(out.fixed, f.text[at:])
	out.pattern += regexp.QuoteMeta(f.text[at:])
	return out
}

// mean puts a message into plain words.
func (f *readForm) mean(m Message) string {
	return placeholder.ReplaceAllStringFunc(f.means, func(p string) string { return m.Field(p[1 : len(p)-1]) })
}

// table is a list of forms and a way to find them. Patterns are compiled at their first use: a program that prints its
// help should not pay for them.
type table struct {
	forms    []*readForm
	patterns func() []*regexp.Regexp
}

func newTable(before, after string, lists ...[]form) *table {
	t := &table{}
	for _, l := range lists {
		for _, f := range l {
			t.forms = append(t.forms, read(f))
		}
	}
	t.patterns = sync.OnceValue(func() []*regexp.Regexp {
		var out []*regexp.Regexp
		for _, f := range t.forms {
			out = append(out, regexp.MustCompile(before+f.pattern+after))
		}
		return out
	})
	return t
}

// wholes are messages of one sentence; ofFlavors and ofDevices are parts of longer ones.
var (
	wholes    = sync.OnceValue(func() *table { return newTable(`(?s)^`, `$`, ofQueues, ofAttempts, ofLife) })
	ofFlavors = sync.OnceValue(func() *table { return newTable(``, ``, flavorParts) })
	ofDevices = sync.OnceValue(func() *table { return newTable(``, ``, deviceParts) })
	inner     = sync.OnceValue(func() *table { return newTable(``, ``, innerParts) })
)

// forms are those of all tables. Of two with one code the first is written.
var forms = sync.OnceValue(func() map[Code]*readForm {
	out := map[Code]*readForm{}
	for _, t := range []*table{wholes(), ofFlavors(), ofDevices(), inner()} {
		for _, f := range t.forms {
			if out[f.code] == nil {
				out[f.code] = f
			}
		}
	}
	return out
})

// found is a message in a text, with where it stands.
type found struct {
	Message
	form       *readForm
	start, end int
	order      int
}

// scan finds every part of a text that is of a form, in the order of the text. Where parts overlap the first one
// counts, and of two at one place the earlier form of the table.
func (t *table) scan(text string) []found {
	var all []found
	for order, p := range t.patterns() {
		for _, at := range p.FindAllStringSubmatchIndex(text, -1) {
			f := found{Message: Message{Code: t.forms[order].code}, form: t.forms[order], start: at[0], end: at[1],
				order: order}
			for i := 2; i < len(at); i += 2 {
				f.values = append(f.values, text[at[i]:at[i+1]])
			}
			all = append(all, f)
		}
	}
	slices.SortFunc(all,
		func(a, b found) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.order, b.order)) })
	end := 0
	return slices.DeleteFunc(all, func(f found) bool {
		if f.start < end {
			return true
		}
		end = f.end
		return false
	})
}

// Parse reads a message that is one sentence; its code is empty when it has no known form.
func Parse(text string) Message {
	if all := wholes().scan(text); len(all) > 0 {
		return all[0].Message
	}
	return Message{}
}

// Find reads the parts of a longer message, in the order of the text: reasons of flavors, and errors about devices.
func Find(text string, codes ...Code) []Message {
	var out []Message
	for _, t := range []*table{ofFlavors(), ofDevices(), inner()} {
		for _, f := range t.scan(text) {
			if f.Is(codes...) {
				out = append(out, f.Message)
			}
		}
	}
	return out
}
