import { useEffect, useRef } from "react";
import { decode } from "./blurhash";

const WIDTH = 32;
const HEIGHT = 20;

/** The colours of a picture, until it is loaded. */
export function Blur({ hash }: { hash: string }) {
  const ref = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const pixels = decode(hash, WIDTH, HEIGHT);
    if (pixels) ref.current?.getContext("2d")?.putImageData(new ImageData(pixels, WIDTH, HEIGHT), 0, 0);
  }, [hash]);
  return <canvas ref={ref} width={WIDTH} height={HEIGHT} aria-hidden="true" />;
}
