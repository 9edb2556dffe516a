package source

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// Limits on what comes out of one input, so that a small file cannot fill the memory or take for ever.
const (
	// maxHeld bounds an archive that must be held in memory: a zip that is no file of its own.
	maxHeld = 256 << 20
	// maxArchives is how many archives may stand inside each other.
	maxArchives = 2
	// maxPackedProblems bounds the problems told about one archive.
	maxPackedProblems = 1000
	// maxWindow is how far back zstd and xz may refer. It is held in memory. `zstd --long=27` needs this much, `xz -9`
	// half of it.
	maxWindow = 128 << 20
	// streamCost is what a compressed stream counts for besides the bytes that come out of it: each takes memory of its
	// own.
	streamCost = 1 << 20
)

// limits bound what comes out of one input.
type limits struct {
	// freely is how many bytes may come out of any input. Beyond that it is ratio times the bytes that went in:
	// exports are repetitive, and xz makes one of a fleet of equal nodes two hundred times smaller. Bytes count
	// once for each layer they pass: compression, archive.
	freely, ratio int64
	// members is how many members of archives are looked at, files how many of them are read.
	members, files int
}

var usualLimits = limits{freely: 4 << 30, ratio: 800, members: 2_000_000, files: 200_000}

// headSize is how much of an input tells how it is packed.
const headSize = 512

// compression is a way to compress a stream.
type compression struct {
	name, magic string
	open        func(io.Reader) (io.Reader, func(), error)
}

var compressions = []compression{
	{"gzip", "\x1f\x8b", func(r io.Reader) (io.Reader, func(), error) {
		z, err := gzip.NewReader(r)
		return z, func() {}, err
	}},
	{"xz", "\xfd7zXZ\x00", func(r io.Reader) (io.Reader, func(), error) {
		head, r := peek(r)
		if window := xzWindow(head); window > maxWindow {
			return nil, nil,
				fmt.Errorf("it needs %d MiB of memory, more than %d: compress it with xz -9 or less", window>>20,
					maxWindow>>20)
		}
		z, err := xz.NewReader(r)
		return z, func() {}, err
	}},
	{"zstd", "\x28\xb5\x2f\xfd", func(r io.Reader) (io.Reader, func(), error) {
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	}},
	{"bzip2", "BZh", func(r io.Reader) (io.Reader, func(), error) { return bzip2.NewReader(r), func() {}, nil }},
}

// xzWindow is how far back the first block of an xz stream refers, 0 where its header does not say so in the usual way:
// one filter, LZMA2, behind the sizes that the flags announce.
func xzWindow(head []byte) int64 {
	const streamHeader, lzma2 = 12, 0x21
	if len(head) < streamHeader+2 {
		return 0
	}
	flags, rest := head[streamHeader+1], head[streamHeader+2:]
	for _, size := range []byte{0x40, 0x80} {
		if flags&size != 0 {
			_, n := binary.Uvarint(rest)
			rest = rest[max(n, 0):]
		}
	}
	if len(rest) < 3 || rest[0] != lzma2 || rest[1] != 1 || rest[2] > 40 {
		return 0
	}
	if rest[2] == 40 {
		return 4 << 30
	}
	return int64(2|rest[2]&1) << (rest[2]/2 + 11)
}

func compressionOf(head []byte) *compression {
	for i := range compressions {
		if bytes.HasPrefix(head, []byte(compressions[i].magic)) {
			return &compressions[i]
		}
	}
	return nil
}

func isZip(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06"))
}

// isTar tells a tar archive by the mark in its first header.
func isTar(head []byte) bool {
	const mark = 257
	return len(head) >= mark+5 && string(head[mark:mark+5]) == "ustar"
}

func isPacked(head []byte) bool { return compressionOf(head) != nil || isZip(head) || isTar(head) }

// peek returns the first bytes of a stream, and the stream with them. An error shows when it is read on.
func peek(src io.Reader) ([]byte, io.Reader) {
	b := bufio.NewReaderSize(src, headSize)
	head, _ := b.Peek(headSize)
	return head, b
}

// allowance counts what goes into and comes out of one packed input.
type allowance struct {
	limits
	in, out                int64
	membersSeen, filesSeen int
	// spent is why no more comes out.
	spent error
}

var errRanOut = errors.New("it unpacks to far more than its size")

// packedReader counts the bytes of the packed input.
type packedReader struct {
	src io.Reader
	a   *allowance
}

func (p packedReader) Read(b []byte) (int, error) {
	n, err := p.src.Read(b)
	p.a.in += int64(n)
	return n, err
}

// unpackedReader counts the bytes that come out, and ends when there are too many.
type unpackedReader struct {
	src io.Reader
	a   *allowance
}

func (u unpackedReader) Read(b []byte) (int, error) {
	if u.a.spent != nil {
		return 0, u.a.spent
	}
	n, err := u.src.Read(b)
	if u.a.out += int64(n); u.a.out > u.a.freely && u.a.out/u.a.ratio > u.a.in {
		u.a.spent = fmt.Errorf("%w: more than %d MiB came out of %d KiB; unpack it yourself if you trust it", errRanOut,
			u.a.out>>20, u.a.in>>10)
	}
	return n, err
}

// another counts a member, and tells why no more are taken.
func (a *allowance) another(read bool) error {
	a.membersSeen++
	if read {
		a.filesSeen++
	}
	switch {
	case a.spent != nil:
	case a.membersSeen > a.members:
		a.spent = fmt.Errorf("it has more than %d members", a.members)
	case a.filesSeen > a.files:
		a.spent = fmt.Errorf("it has more than %d files with objects; join those of a kind to lists, or unpack it",
			a.files)
	}
	return a.spent
}
