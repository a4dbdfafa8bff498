package format

import (
	"reflect"
	"testing"
)

func someFooter() *Footer {
	leaf := func(name string, t Type, l Logical) Element {
		return Element{Name: name, Type: t, Repetition: Optional, Logical: l}
	}
	group := RowGroup{Bytes: 100, Rows: 7, Chunks: []Chunk{{
		Type: Int64, Encodings: []Encoding{Plain, RLEDictionary}, Path: []string{"id"}, Codec: Zstd, Values: 7,
		Uncompressed: 90, Compressed: 50, Data: 30, Dictionary: 4, Statistics: Statistics{Min: []byte{1}, Max: []byte{2}, Nulls: 3},
	}}}
	return &Footer{
		Schema: []Element{
			{Name: "schema", Type: NoType, Children: 9},
			leaf("id", Int64, Logical{Kind: Integer, Bits: 64, Signed: true}),
			leaf("u8", Int32, Logical{Kind: Integer, Bits: 8}),
			leaf("d", Int64, Logical{Kind: Decimal, Precision: 15, Scale: 2}),
			leaf("at", Int64, Logical{Kind: Timestamp, Unit: Nanos}),
			leaf("on", Int64, Logical{Kind: Timestamp, Unit: Micros, UTC: true}),
			leaf("t", Int32, Logical{Kind: Time, Unit: Millis, UTC: true}),
			leaf("s", ByteArray, Logical{Kind: String}),
			leaf("i", Fixed, Logical{Kind: Interval}),
			leaf("b", ByteArray, Logical{}),
		},
		Rows: 14, Groups: []RowGroup{group, group}, CreatedBy: "leat",
	}
}

func TestFooterThereAndBack(t *testing.T) {
	want := someFooter()
	want.Schema[8].Length = 12
	for i := range want.Schema[1:] {
		if want.Schema[i+1].Type != Fixed {
			want.Schema[i+1].Length = 0
		}
	}
	got, err := ParseFooter(AppendFooter(nil, want))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("became\n%+v, want\n%+v", got, want)
	}
}

// Exactness rule 12: a file's row count is that of its row groups.
func TestRule12RowsOfGroupsAreThoseOfTheFile(t *testing.T) {
	f := someFooter()
	f.Rows++
	if _, err := ParseFooter(AppendFooter(nil, f)); err == nil {
		t.Error("a footer was taken whose rows are not those of its row groups")
	}
}

// A list that claims to be long takes no memory before its elements are there.
func TestAllocFootersAreNotBelieved(t *testing.T) {
	claims := []byte{0x49, 0xfc, 0xff, 0xff, 0xff, 0x07} // field 4: 2^31 row groups
	broken := append(claims, make([]byte, 1000)...)
	if allocs := testing.AllocsPerRun(10, func() { _, _ = ParseFooter(broken) }); allocs > 100 {
		t.Errorf("%v allocations", allocs)
	}
	if _, err := ParseFooter(broken); err == nil {
		t.Error("the footer was taken")
	}
}

func TestPageHeaderThereAndBack(t *testing.T) {
	for _, want := range []PageHeader{
		{Kind: DataPage, Uncompressed: 1 << 20, Compressed: 1000, CRC: 0xdeadbeef, HasCRC: true, Values: 9, Encoding: RLEDictionary, DefinitionEncoding: RLE, RepetitionEncoding: RLE},
		{Kind: DictionaryPage, Uncompressed: 5, Compressed: 7, CRC: 1, HasCRC: true, Values: 2, Encoding: Plain},
	} {
		data := AppendPageHeader(nil, &want)
		got, n, err := ParsePageHeader(append(data, 1, 2, 3))
		if err != nil || n != len(data) || got != want {
			t.Errorf("%+v became %+v of %d bytes, %v", want, got, n, err)
		}
		for cut := range data {
			if _, _, err := ParsePageHeader(data[:cut]); err == nil {
				t.Errorf("a header was read from its first %d of %d bytes", cut, len(data))
			}
		}
	}
}

func FuzzParseFooter(f *testing.F) {
	f.Add(AppendFooter(nil, someFooter()))
	f.Add(AppendRowGroup(nil, &someFooter().Groups[0]))
	f.Add(AppendPageHeader(nil, &PageHeader{Kind: DataPage, Values: 3}))
	f.Fuzz(func(t *testing.T, data []byte) {
		if footer, err := ParseFooter(data); err == nil {
			again, err := ParseFooter(AppendFooter(nil, footer))
			if err != nil || again.Rows != footer.Rows || len(again.Groups) != len(footer.Groups) {
				t.Errorf("%+v became %+v, %v", footer, again, err)
			}
		}
		_, _ = ParseRowGroup(data)
		if _, n, err := ParsePageHeader(data); err == nil && n > len(data) {
			t.Errorf("a header of %d bytes in %d", n, len(data))
		}
	})
}

func FuzzEncodings(f *testing.F) {
	f.Add(AppendRuns(nil, []uint32{1, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3}, 2), 2)
	f.Add(AppendDeltas(nil, []int64{1, 5, -9, 1 << 40}, 64), 0)
	f.Fuzz(func(_ *testing.T, data []byte, width int) {
		var runs Runs
		if runs.Reset(data, width) == nil {
			_ = runs.Read(make([]uint32, 1000))
		}
		var d Deltas
		if d.Reset(data) == nil {
			_ = d.Read(make([]int64, min(1000, d.Left())))
			_ = d.End()
		}
		var dec Decompressor
		defer dec.Close()
		for c := Uncompressed; c <= LZ4; c++ {
			for _, size := range []int{0, 1, len(data), 4096, 64 << 20} {
				page, err := dec.Decompress(c, nil, data, size)
				if err == nil && len(page) != size {
					panic("a page of another size")
				}
			}
		}
	})
}
