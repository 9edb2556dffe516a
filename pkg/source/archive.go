package source

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// unpacker reads inputs that come packed: archives, compressed files, and archives inside archives. Nothing
// is written anywhere, and no link is followed: a member is only ever its own bytes.
type unpacker struct {
	out     *emitter
	places  *placeCache
	allowed allowance
	// found counts the files with objects.
	found int
	// cut tells that something broke off, which was told.
	cut bool
}

// packed is something to unpack.
type packed struct {
	name string
	src  io.Reader
	// file is src where it can be read at any place; size is how long it is.
	file io.ReaderAt
	size int64
	// within counts the archives around it.
	within int
	// plain tells that its bytes came out of a compressed stream already.
	plain bool
}

func newUnpacker(within limits, out *emitter, places *placeCache) *unpacker {
	return &unpacker{out: out, places: places, allowed: allowance{limits: within}}
}

// unpack reads one packed input. file is src when it is a regular file.
func (u *unpacker) unpack(name string, src io.Reader, file *os.File) {
	out := u.out
	p := packed{name: name, src: packedReader{&cancelled{out, src}, &u.allowed}}
	if file != nil {
		if info, err := file.Stat(); err == nil {
			p.file, p.size = file, info.Size()
		}
	}
	out.beginArchive()
	defer out.endArchive(name)
	u.read(p)
	if u.found == 0 && out.packedProblems == 0 {
		out.begin(name)
		out.problem(0, "no "+extensionList+" file in this archive")
	}
}

// read reads text, or whatever it is packed in.
func (u *unpacker) read(p packed) {
	head, src := peek(p.src)
	p.src = src
	switch c := compressionOf(head); {
	case c != nil && p.plain:
		u.broken(p.name, errors.New("it is compressed twice: unpack it once"))
	case c != nil:
		u.decompress(p, c)
	case isTar(head) || isZip(head):
		if p.within == maxArchives {
			u.broken(p.name, fmt.Errorf("archives are read %d deep: unpack the outer one", maxArchives))
		} else if isTar(head) {
			u.tar(p)
		} else {
			u.zip(p)
		}
	default:
		u.found++
		in := &input{name: p.name, size: p.size, out: u.out, places: u.places}
		in.read(p.src)
	}
}

func (u *unpacker) decompress(p packed, c *compression) {
	u.allowed.out += streamCost
	src, done, err := c.open(p.src)
	if err != nil {
		u.broken(p.name, fmt.Errorf("%s: %w", c.name, err))
		return
	}
	defer done()
	inner := p
	inner.src, inner.file, inner.size, inner.plain = unpackedReader{src, &u.allowed}, nil, 0, true
	u.read(inner)
	// The checksum stands at the end. What a broken text lacks was told when it was read.
	if _, err := io.Copy(io.Discard, inner.src); err != nil && !u.cut {
		u.broken(p.name, err)
	}
}

// broken reports that a packed input breaks off. What is missing after that is not known.
func (u *unpacker) broken(name string, err error) {
	reason := "cannot be unpacked: " + err.Error()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		reason = "the archive breaks off: what should follow is missing"
	}
	u.cut = true
	u.out.begin(name)
	u.out.problem(0, reason)
	u.out.brokeOff(name + ": " + reason)
}

func (u *unpacker) tar(p packed) {
	end := &zeroTail{src: p.src}
	r := tar.NewReader(end)
	for {
		h, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			if end.zeros < tarBlock {
				u.broken(p.name, io.ErrUnexpectedEOF)
			}
			return
		case err != nil && u.out.ctx.Err() != nil:
			return
		case err != nil:
			u.broken(p.name, err)
			return
		}
		m := entry{name: h.Name, size: h.Size, open: func() (io.Reader, error) { return r, nil }}
		switch h.Typeflag {
		case tar.TypeReg, tar.TypeGNUSparse:
		case tar.TypeSymlink, tar.TypeLink:
			m.link, m.hard = h.Linkname, h.Typeflag == tar.TypeLink
		default:
			continue
		}
		if !u.member(p, m) {
			return
		}
	}
}

const tarBlock = 512

// zeroTail counts the zeros at the end of what was read. A tar archive ends with blocks of them: without these
// it was cut between two members, which nothing else tells.
type zeroTail struct {
	src   io.Reader
	zeros int
}

func (z *zeroTail) Read(b []byte) (int, error) {
	n, err := z.src.Read(b)
	if rest := len(bytes.TrimRight(b[:n], "\x00")); rest > 0 {
		z.zeros = n - rest
	} else {
		z.zeros += n
	}
	return n, err
}

func (u *unpacker) zip(p packed) {
	if p.file == nil {
		held, err := io.ReadAll(io.LimitReader(p.src, maxHeld+1))
		if err == nil && len(held) > maxHeld {
			err = fmt.Errorf("a zip of more than %d MiB is read only when it is a file of its own: unpack it",
				maxHeld>>20)
		}
		if err != nil {
			u.broken(p.name, err)
			return
		}
		p.file, p.size = bytes.NewReader(held), int64(len(held))
	} else {
		u.allowed.in += p.size
	}
	r, err := zip.NewReader(p.file, p.size)
	if r == nil {
		u.broken(p.name, err)
		return
	}
	for _, f := range r.File {
		m := entry{name: f.Name, size: int64(min(f.UncompressedSize64, 1<<62))}
		switch mode := f.Mode(); {
		case mode&os.ModeSymlink != 0:
			m.link = "a link"
		case !mode.IsRegular():
			continue
		}
		m.open = func() (io.Reader, error) {
			if f.Flags&1 != 0 {
				return nil, errors.New("it is encrypted")
			}
			src, err := f.Open()
			return &cancelled{u.out, src}, err
		}
		if !u.member(p, m) || u.out.ctx.Err() != nil {
			return
		}
	}
}

// entry is one file of an archive.
type entry struct {
	name string
	size int64
	// link is where a link leads to; hard tells that it stands for an earlier member.
	link string
	hard bool
	open func() (io.Reader, error)
}

// member reads a member, if it can hold objects. It reports false when the archive is not to be read on.
func (u *unpacker) member(p packed, m entry) bool {
	name := shown(m.name)
	full := p.name + "/" + name
	reads := !hidden(name) && (holdsObjects(name) || isArchiveName(name))
	if err := u.allowed.another(reads); err != nil {
		u.broken(p.name, err)
		return false
	}
	if !reads {
		return true
	}
	u.out.begin(full)
	switch {
	case leadsOut(m.name):
		u.out.problem(0, "its name leads out of the archive: it is not read")
		return true
	case m.link != "":
		// A link inside the tree leads to what is read by itself; one that leads out of it leads to nothing.
		if !m.hard && leadsOut(path.Join(path.Dir(m.name), m.link)) || path.IsAbs(m.link) {
			u.out.problem(0, "it is a link out of the archive: it is not followed")
		}
		return true
	}
	src, err := m.open()
	if err != nil {
		u.out.problem(0, plain(err))
		u.out.brokeOff(full + ": " + plain(err))
		return true
	}
	u.read(packed{name: full, src: unpackedReader{src, &u.allowed}, size: max(m.size, 1), within: p.within + 1})
	if u.allowed.spent != nil && !u.cut {
		u.broken(p.name, u.allowed.spent)
	}
	return u.allowed.spent == nil
}

// hidden are files that Mac OS puts beside the real ones.
func hidden(name string) bool {
	return strings.HasPrefix(path.Base(name), "._") || strings.HasPrefix(name, "__MACOSX/")
}

// compressedExtensions are those of compressed files and archives.
var compressedExtensions = map[string]bool{".gz": true, ".xz": true, ".zst": true, ".bz2": true}

var archiveExtensions = map[string]bool{".tar": true, ".zip": true, ".tgz": true, ".txz": true, ".tzst": true,
	".tbz": true}

// holdsObjects tells by its name whether a file can hold objects, compressed or not.
func holdsObjects(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	if compressedExtensions[ext] {
		ext = strings.ToLower(path.Ext(name[:len(name)-len(ext)]))
	}
	return extensions[ext]
}

// isArchiveName tells by its name whether a file is an archive. Compressed logs are none.
func isArchiveName(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	if compressedExtensions[ext] {
		ext = strings.ToLower(path.Ext(name[:len(name)-len(ext)]))
	}
	return archiveExtensions[ext]
}

// leadsOut tells whether a path inside an archive leaves it. A leading slash is harmless: nothing is written.
func leadsOut(name string) bool {
	depth := 0
	for _, part := range strings.FieldsFunc(name, func(c rune) bool { return c == '/' || c == '\\' }) {
		switch part {
		case ".":
		case "..":
			if depth--; depth < 0 {
				return true
			}
		default:
			depth++
		}
	}
	return false
}

// maxName bounds the name of a member, as file systems do.
const maxName = 1024

// shown is the name of a member as it is shown: whoever made the archive must not write to the terminal.
func shown(name string) string {
	if len(name) > maxName {
		name = name[:maxName/2] + "…" + name[len(name)-maxName/2:]
	}
	name = strings.TrimPrefix(path.Clean("/"+strings.ToValidUTF8(name, "�")), "/")
	return strings.Map(func(c rune) rune {
		if c == utf8.RuneError || !unicode.IsPrint(c) {
			return '�'
		}
		return c
	}, name)
}
