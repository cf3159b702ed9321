/** A sheet of fictional products, as a shop might send it; `forebay up` has a catalogue in which most of them are. */
export function sampleSheet(): File {
  const rows = [
    "Name;Brand;EAN;Price",
    "Toaster Orbit four slices steel;Bergwerk;2000006493583;29.93",
    "Wall clock Aurora 25 cm white;Quill & Co;;34.38",
    "Backpack Aurora 35 l black;Nordpol;;108.19",
    "Backpack Orbit 35 l oak;Nordpol;;102.90",
    "Fountain pen;Holzmann;2000000950280;25.74",
    "A thing that nobody sells;;;1.00",
  ];
  return new File([`${rows.join("\n")}\n`], "sample.csv", { type: "text/csv" });
}
