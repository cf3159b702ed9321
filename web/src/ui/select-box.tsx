interface SelectBoxProps {
  label: string;
  checked: boolean;
  disabled?: boolean;
  tabIndex?: number;
  /** `isRange`: Shift was held, so that everything from the last selected row is meant. */
  onSelect: (isRange: boolean) => void;
}

/** The box to tick of a row. */
export function SelectBox({ label, checked, disabled, tabIndex, onSelect }: SelectBoxProps) {
  return (
    <input
      type="checkbox"
      aria-label={label}
      checked={checked}
      disabled={disabled}
      tabIndex={tabIndex}
      // With Shift, the browser would mark the text of the rows between.
      onMouseDown={(event) => event.shiftKey && event.preventDefault()}
      onChange={(event) => onSelect((event.nativeEvent as MouseEvent).shiftKey)}
    />
  );
}
